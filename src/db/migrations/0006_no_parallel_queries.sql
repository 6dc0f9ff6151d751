-- A count with parallel workers takes every core of a small server: with two of them running, other requests took three times as
-- long as with two counts on one core each, and fewer counts were done in the same time (docs/export.md).
-- As with the role itself, another database of the cluster may have done this already, or be doing it now.
do $$
begin
  if not exists (select from pg_roles where rolname = 'survey_export_worker' and 'max_parallel_workers_per_gather=0' = any (rolconfig)) then
    alter role survey_export_worker set max_parallel_workers_per_gather = 0;
  end if;
exception when insufficient_privilege or internal_error then
  null;
end
$$;
