-- By which a process knows whether its key is the one that the secrets of this database are sealed with: a known text, sealed as they
-- are. Kept from the first use of a key on, so that another key is refused before anything is sealed with it.
create table key_checks (
  -- Which key: so far there is one, "sealing".
  name text primary key,
  sealed bytea not null
);
