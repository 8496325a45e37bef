"""Writers: `registry` (what a rule is), `rules` (all of ours), `stage` (what they keep of a suite)."""
