"""anovax.companion"""
