-- What a key may do, chosen piece by piece; null: what its permission says. A process of an earlier version knows permissions alone:
-- it does not find a key with scopes, whose hash is hashed once more, and shows it as one that reads.
alter table api_keys add column scopes text[] check (cardinality(scopes) > 0);
