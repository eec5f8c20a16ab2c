"""The engines of commands: their locked files, Java, installation, class archives."""
