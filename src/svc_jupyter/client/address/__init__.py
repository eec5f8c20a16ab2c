"""Which service is meant: settings, profiles, and the service of this machine."""
