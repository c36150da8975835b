"""anovax.safety"""
