"""The parts that policies are composed of: each holds one rule and can be left out."""
