"""The options and actions of magics: parsing their lines."""
