"""Sets of slices as bits are the sets that the masks are."""

import numpy as np
from bitarray import bitarray
from hypothesis import given
from hypothesis import strategies as st

from evaluator.evaluation.bit_sets import are_set, bits_of_mask, mask_of_bits, rows_of_bits


@given(st.lists(st.booleans(), min_size=1, max_size=70), st.data())
def test_rows_are_looked_up_in_bits_as_in_the_mask(flags, data):
    mask = np.array(flags, bool)
    rows = np.array(data.draw(st.lists(st.integers(0, len(flags) - 1), max_size=20)), np.int32)
    bits = bits_of_mask(mask)
    assert are_set(bits, rows).tolist() == mask[rows].tolist()
    assert are_set(bitarray(bits, endian="big"), rows).tolist() == mask[rows].tolist()
    assert mask_of_bits(bits).tolist() == flags
    assert rows_of_bits(bits).tolist() == np.flatnonzero(mask).tolist()
    assert mask_of_bits(~bits).tolist() == (~mask).tolist()
