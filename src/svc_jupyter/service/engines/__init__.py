"""The engines that commands run on: their locked files, Java, installation, class archives."""
