"""HTML pages of plans, advice and tables: each one file without network, made by Jinja2 templates.

    environment.py     ``render_page``: a template with its style, scripts and data, under a strict policy
    explain_page.py    ``explain_page(plan)``: what is skipped, what decides, what to do next
    slice_data.py      the file slices of a plan as columns for the map and the table
    range_charts.py    min to max of a column in each file, beside the constants

What a page shows comes from the reports that the text output prints (``planning``, ``advise``, ``inspection``). Nothing
is decided here. Jinja2 and the table library come with the extra ``html`` and are imported when a page is made.
"""
