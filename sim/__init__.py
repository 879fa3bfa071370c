"""The world: segments, window, ledger, salience, prefix cache, reader, engine, records, metrics."""
