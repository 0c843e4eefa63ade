-- What astronomy-db holds: one application database, its owner, and a user for monitoring.
CREATE USER astronomy_user WITH PASSWORD 'astronomy_password';
CREATE DATABASE astronomy_db OWNER astronomy_user;
CREATE USER monitoring_user WITH PASSWORD 'monitoring_password';
GRANT pg_monitor TO monitoring_user;

\connect astronomy_db
CREATE SCHEMA accounting AUTHORIZATION astronomy_user;
CREATE TABLE accounting."order" (order_id TEXT PRIMARY KEY);
CREATE TABLE accounting.orderitem (
    order_id TEXT NOT NULL REFERENCES accounting."order" (order_id) ON DELETE CASCADE,
    product_id TEXT NOT NULL,
    quantity INT NOT NULL,
    PRIMARY KEY (order_id, product_id)
);
CREATE TABLE accounting.shipping (
    shipping_tracking_id TEXT PRIMARY KEY,
    order_id TEXT NOT NULL REFERENCES accounting."order" (order_id) ON DELETE CASCADE
);

CREATE SCHEMA catalog AUTHORIZATION astronomy_user;
CREATE TABLE catalog.products (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    description TEXT,
    picture TEXT,
    price_currency_code TEXT NOT NULL,
    price_units BIGINT NOT NULL,
    price_nanos INT NOT NULL,
    categories TEXT
);
GRANT ALL ON ALL TABLES IN SCHEMA accounting, catalog TO astronomy_user;
