-- The shop's database: one table per kind of thing, read from top to bottom.
-- Dates are text, year-month-day ('2026-03-31'), so that they sort and compare as they read.
-- Money is in rupees with two decimals. Every table is STRICT: a price can never be stored as text.
-- Indexes stand at the end; they are made after the rows are in, which is faster.

-- Who supplies the products.
CREATE TABLE suppliers (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    city TEXT NOT NULL
) STRICT;

-- A tree: 'Kitchen' stands under 'Home'. The top of each branch has no parent.
CREATE TABLE categories (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    parent_id INTEGER REFERENCES categories (id),
    CHECK (parent_id <> id)
) STRICT;

-- What is or was sold. The price is today's list price; what was paid stands in order_items.
CREATE TABLE products (
    id INTEGER PRIMARY KEY,
    sku TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    category_id INTEGER NOT NULL REFERENCES categories (id),
    supplier_id INTEGER NOT NULL REFERENCES suppliers (id),
    price REAL NOT NULL CHECK (price > 0),
    launched_on TEXT NOT NULL CHECK (launched_on GLOB '[0-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]'),
    status TEXT NOT NULL CHECK (status IN ('active', 'discontinued')),
    description TEXT NOT NULL
) STRICT;

-- How two products belong together. 'accessory': related_id is an extra for product_id;
-- 'replaces': product_id is the new one, related_id the old one; 'compatible': the two work together.
CREATE TABLE product_links (
    product_id INTEGER NOT NULL REFERENCES products (id),
    related_id INTEGER NOT NULL REFERENCES products (id),
    kind TEXT NOT NULL CHECK (kind IN ('accessory', 'replaces', 'compatible')),
    PRIMARY KEY (product_id, related_id, kind),
    CHECK (product_id <> related_id)
) STRICT;

-- Who buys. referred_by is the customer who brought this one in, and always joined earlier.
CREATE TABLE customers (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    email TEXT NOT NULL UNIQUE CHECK (email LIKE '%_@_%'),
    city TEXT NOT NULL,
    region TEXT NOT NULL,
    tier TEXT NOT NULL CHECK (tier IN ('gold', 'silver', 'basic')),
    joined_on TEXT NOT NULL CHECK (joined_on GLOB '[0-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]'),
    referred_by INTEGER REFERENCES customers (id) CHECK (referred_by < id),
    CHECK (
        (region = 'North' AND city IN ('Delhi', 'Jaipur', 'Lucknow', 'Chandigarh'))
        OR (region = 'West' AND city IN ('Mumbai', 'Pune', 'Ahmedabad', 'Nagpur'))
        OR (region = 'South' AND city IN ('Bengaluru', 'Chennai', 'Hyderabad', 'Kochi'))
        OR (region = 'East' AND city IN ('Kolkata', 'Bhubaneswar', 'Guwahati', 'Patna'))
    )
) STRICT;

-- One row per order. amount is the sum of its items. 'refunded' means the whole amount went back;
-- revenue counts the orders that are 'paid'.
CREATE TABLE orders (
    id INTEGER PRIMARY KEY,
    customer_id INTEGER NOT NULL REFERENCES customers (id),
    ordered_on TEXT NOT NULL CHECK (ordered_on GLOB '[0-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]'),
    status TEXT NOT NULL CHECK (status IN ('paid', 'refunded', 'cancelled', 'pending')),
    amount REAL NOT NULL CHECK (amount > 0)
) STRICT;

-- The lines of an order: which product, how many, at what price for one on that day.
-- An order has one to four lines, so a join with orders repeats the order's amount.
CREATE TABLE order_items (
    order_id INTEGER NOT NULL REFERENCES orders (id),
    product_id INTEGER NOT NULL REFERENCES products (id),
    qty INTEGER NOT NULL CHECK (qty > 0),
    unit_price REAL NOT NULL CHECK (unit_price > 0),
    PRIMARY KEY (order_id, product_id)
) STRICT;

-- Money that went back to the customer. A paid order may have a partial refund.
CREATE TABLE refunds (
    id INTEGER PRIMARY KEY,
    order_id INTEGER NOT NULL REFERENCES orders (id),
    amount REAL NOT NULL CHECK (amount > 0),
    reason TEXT NOT NULL,
    refunded_on TEXT NOT NULL CHECK (refunded_on GLOB '[0-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]')
) STRICT;

-- What customers write about a product; 1 is the worst score, 5 the best.
CREATE TABLE reviews (
    id INTEGER PRIMARY KEY,
    product_id INTEGER NOT NULL REFERENCES products (id),
    customer_id INTEGER NOT NULL REFERENCES customers (id),
    score INTEGER NOT NULL CHECK (score BETWEEN 1 AND 5),
    title TEXT NOT NULL,
    body TEXT NOT NULL,
    created_on TEXT NOT NULL CHECK (created_on GLOB '[0-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]')
) STRICT;

-- What customers ask the support team. error_code is what the device showed, such as ERR_4471.
CREATE TABLE tickets (
    id INTEGER PRIMARY KEY,
    customer_id INTEGER NOT NULL REFERENCES customers (id),
    product_id INTEGER REFERENCES products (id),
    subject TEXT NOT NULL,
    body TEXT NOT NULL,
    error_code TEXT CHECK (error_code GLOB 'ERR_[0-9]*'),
    status TEXT NOT NULL CHECK (status IN ('open', 'waiting', 'closed')),
    created_on TEXT NOT NULL CHECK (created_on GLOB '[0-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]')
) STRICT;

-- The help centre. Only articles for the public are published. An old article stays, and superseded_by is
-- the slug of the newer one that replaces it.
CREATE TABLE articles (
    id INTEGER PRIMARY KEY,
    slug TEXT NOT NULL UNIQUE,
    title TEXT NOT NULL,
    body TEXT NOT NULL,
    product_id INTEGER REFERENCES products (id),
    audience TEXT NOT NULL CHECK (audience IN ('public', 'partner', 'staff')),
    updated_on TEXT NOT NULL CHECK (updated_on GLOB '[0-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]'),
    superseded_by TEXT REFERENCES articles (slug) CHECK (superseded_by <> slug)
) STRICT;

-- The teams of the company and what each looks after.
CREATE TABLE teams (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    city TEXT NOT NULL,
    remit TEXT NOT NULL
) STRICT;

-- Who works here. manager_id leads up to the head of the company, who has none.
-- email, phone and salary are private.
CREATE TABLE staff (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    role TEXT NOT NULL,
    team_id INTEGER NOT NULL REFERENCES teams (id),
    manager_id INTEGER REFERENCES staff (id) CHECK (manager_id <> id),
    city TEXT NOT NULL,
    joined_on TEXT NOT NULL CHECK (joined_on GLOB '[0-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]'),
    email TEXT NOT NULL UNIQUE,
    phone TEXT NOT NULL,
    salary REAL NOT NULL CHECK (salary > 0)
) STRICT;

-- Who works with whom, and on what. Each pair stands once, with the smaller id first.
CREATE TABLE team_links (
    staff_id INTEGER NOT NULL REFERENCES staff (id),
    works_with INTEGER NOT NULL REFERENCES staff (id),
    topic TEXT NOT NULL,
    PRIMARY KEY (staff_id, works_with),
    CHECK (staff_id < works_with)
) STRICT;

-- Private notes about the staff. They must never reach a model, so they are never published.
CREATE TABLE staff_notes (
    id INTEGER PRIMARY KEY,
    staff_id INTEGER NOT NULL REFERENCES staff (id),
    written_by INTEGER NOT NULL REFERENCES staff (id),
    note TEXT NOT NULL,
    written_on TEXT NOT NULL CHECK (written_on GLOB '[0-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]')
) STRICT;

-- How this file was made: from which sources, with which seed, in which size.
CREATE TABLE build_info (
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT;

CREATE INDEX ix_categories_parent ON categories (parent_id);
CREATE INDEX ix_products_category ON products (category_id);
CREATE INDEX ix_products_supplier ON products (supplier_id);
CREATE INDEX ix_product_links_related ON product_links (related_id);
CREATE INDEX ix_customers_city ON customers (region, city);
CREATE INDEX ix_customers_referred ON customers (referred_by);
CREATE INDEX ix_orders_customer ON orders (customer_id);
CREATE INDEX ix_orders_day ON orders (ordered_on, status);
CREATE INDEX ix_items_product ON order_items (product_id, order_id);
CREATE INDEX ix_refunds_order ON refunds (order_id);
CREATE INDEX ix_refunds_day ON refunds (refunded_on);
CREATE INDEX ix_reviews_product ON reviews (product_id);
CREATE INDEX ix_reviews_customer ON reviews (customer_id);
CREATE INDEX ix_tickets_customer ON tickets (customer_id);
CREATE INDEX ix_tickets_product ON tickets (product_id);
CREATE INDEX ix_articles_product ON articles (product_id);
CREATE INDEX ix_staff_team ON staff (team_id);
CREATE INDEX ix_staff_manager ON staff (manager_id);
CREATE INDEX ix_team_links_with ON team_links (works_with);
