"""Check a rehearsal: a cluster that is deployed without capacity, to learn what AWS accepts before it is bought."""
