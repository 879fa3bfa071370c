"""The best possible: what a policy that knew the script could hold, and a bound that is proved."""
