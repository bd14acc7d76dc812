"""Builds the wheel and the source archive twice, installs them in clean environments and tries them there.

    python -m tests.release               everything (``make dist``)
    python -m tests.release --quick       one Python, no extras
    python -m tests.release.release_notes the notes of this version

``building`` makes the artefacts, ``trying`` installs and tries them, ``report`` says what they weigh.
"""
