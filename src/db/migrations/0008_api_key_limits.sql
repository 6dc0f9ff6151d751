-- What a key sees less than its account has: docs/keys.md. Null for a key that sees everything.
-- Keys with limits begin with another prefix, which Workers of earlier versions refuse.
alter table api_keys add column limits jsonb;
