"""anovax.voice"""
