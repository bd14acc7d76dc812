"""The sidecar's page for people, on the port of its metrics: what it is asked, what it skips, and what is wrong.

document.py    everything that the page shows, as plain values; made on the event loop, at most once a second
web.py         the page, its JSON and the explain page of a report over HTTP: who may see them, and their headers
"""
