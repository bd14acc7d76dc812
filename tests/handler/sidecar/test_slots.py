"""Which connection gives way: strangers never take more than half of the slots, and only their own."""

import itertools
import random

import pytest

from handler.sidecar.slots import Slots


class Peer:
    """``silent_since`` is None while it is answered."""

    def __init__(self, slots, number):
        self.slots, self.number, self.silent_since, self.closed = slots, number, 0.0, None

    def close(self, because):
        self.closed = because
        self.slots.leave(self)

    def __repr__(self):
        return f"peer {self.number}"


@pytest.fixture
def clock(monkeypatch):
    now = [0.0]
    monkeypatch.setattr("handler.sidecar.slots.time.monotonic", lambda: now[0])
    return now


def arrive(slots, count, start=0):
    peers = [Peer(slots, start + i) for i in range(count)]
    return peers, [slots.admit(peer) for peer in peers]


def test_the_oldest_stranger_gives_way(clock):
    slots = Slots(8, 5.0)
    peers, admitted = arrive(slots, 10)
    assert all(admitted)
    assert list(slots) == peers[6:]
    assert [peer.closed for peer in peers] == ["room"] * 6 + [None] * 4


def test_strangers_do_not_push_out_those_who_are_known(clock):
    slots = Slots(8, 5.0)
    known, _ = arrive(slots, 4)
    for peer in known:
        slots.make_known(peer)
    clock[0] = 1000.0
    arrive(slots, 100, 4)
    assert [peer.closed for peer in known] == [None] * 4
    assert len(slots) == 8


@pytest.mark.parametrize(("silent", "gives_way"), [(4.9, False), (5.1, True)])
def test_a_known_peer_gives_way_when_it_was_silent_for_long(clock, silent, gives_way):
    slots = Slots(4, 5.0)
    known = []
    for i in range(4):
        [peer], _ = arrive(slots, 1, i)
        slots.make_known(peer)
        known.append(peer)
    known[0].silent_since = None  # it is being answered
    clock[0] = silent
    [_], [admitted] = arrive(slots, 1, 4)
    assert admitted == gives_way
    assert [peer.closed for peer in known] == [None, "room" if gives_way else None, None, None]


def test_who_asked_last_gives_way_last(clock):
    slots = Slots(2, 5.0)
    [first], _ = arrive(slots, 1)
    slots.make_known(first)
    [second], _ = arrive(slots, 1, 1)
    slots.make_known(second)
    slots.make_known(first)
    clock[0] = 6.0
    arrive(slots, 1, 2)
    assert (first.closed, second.closed) == (None, "room")


def test_a_peer_that_has_left_is_not_known_again(clock):
    slots = Slots(2, 5.0)
    [peer], _ = arrive(slots, 1)
    peer.close("silent")
    slots.make_known(peer)
    assert (len(slots), slots.is_known(peer)) == (0, False)


@pytest.mark.parametrize("limit", [1, 2, 3, 7, 32])
def test_random_peers_never_take_more_than_their_slots(clock, limit):
    rng, slots = random.Random(limit), Slots(limit, 5.0)
    strangers = max(1, limit // 2)
    for number in itertools.count():
        if number == 3_000:
            break
        clock[0] += rng.random()
        known = [peer for peer in slots if slots.is_known(peer)]
        one = Peer(slots, number)
        one.silent_since = clock[0]
        was_admitted = slots.admit(one)
        assert was_admitted == (one in list(slots))
        assert len(slots) <= limit
        assert sum(not slots.is_known(peer) for peer in slots) <= strangers
        lost = [peer for peer in known if peer.closed]
        assert len(lost) <= 1
        assert all(peer.silent_since <= clock[0] - 5.0 for peer in lost)
        for peer in list(slots):
            match rng.randrange(6):
                case 0:
                    slots.make_known(peer)
                    peer.silent_since = clock[0]
                case 1 if slots.is_known(peer):
                    peer.silent_since = None
                case 2:
                    peer.silent_since = clock[0]
                case 3 if rng.random() < 0.2:
                    peer.close("left")
