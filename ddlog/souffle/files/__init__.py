"""The files of Soufflé programs: facts as Soufflé reads them, results as it writes them."""
