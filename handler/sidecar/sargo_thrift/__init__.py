__all__ = ['ttypes', 'constants', 'Sargo']
