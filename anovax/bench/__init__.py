"""anovax.bench"""
