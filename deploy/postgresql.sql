-- The service's user and its database, which it owns: sudo -u postgres psql -f postgresql.sql
-- The name of the user is that of the system's user, who needs no password over the socket (`peer` in pg_hba.conf).
CREATE ROLE "svc-jupyter" LOGIN;
CREATE DATABASE "svc-jupyter" OWNER "svc-jupyter" ENCODING 'UTF8' TEMPLATE template0;
