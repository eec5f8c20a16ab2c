"""What a notebook shows and lets a person act on: panels of ipywidgets, each with a text for where there are none.

The magics open the panels (`magics` imports `widgets`, never the other way). Importing this package imports no
ipywidgets: that happens when a panel is made.
"""
