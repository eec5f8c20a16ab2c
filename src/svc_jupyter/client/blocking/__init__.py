"""The client that blocks. Most of it is made from the one for asyncio."""
