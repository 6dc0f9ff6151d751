-- A query whose client has disconnected is cancelled. Where that does not reach Postgres, only the connection is closed, and a scan
-- would run on to its statement_timeout: Postgres notices a closed connection when it next uses it, or looks at it as often as this.
-- On platforms that cannot look (Windows), Postgres refuses any value but 0, and the role has no such setting.
-- As with the role itself, another database of the cluster may have done this already, or be doing it now.
do $$
begin
  if not exists (select from pg_roles where rolname = 'survey_export_worker' and 'client_connection_check_interval=2s' = any (rolconfig)) then
    alter role survey_export_worker set client_connection_check_interval = '2s';
  end if;
exception when insufficient_privilege or internal_error or invalid_parameter_value then
  null;
end
$$;
