"""anovax.desktop"""
