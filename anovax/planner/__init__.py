"""anovax.planner"""
