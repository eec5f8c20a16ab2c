"""Interactive panels of ipywidgets for notebooks, each with a text for front ends without widgets.

The magics open the panels (`magics` imports `widgets`, never the reverse). Importing this package does not import
ipywidgets; creating a panel does.
"""
