"""Exercise 01, retrieval from SQL: what is asked, for how many points, and the hints."""

from course_utils.teaching.task import group

GROUP = group(
    "sql",
    "01_sql_retrieval",
    [
        {
            "name": "limit_guard",
            "title": "A LIMIT guard",
            "points": 2,
            "asks": "add_limit",
            "statement": (
                "Write `add_limit(sql, n=50) -> str`. A query without a LIMIT of its own comes back with "
                "`LIMIT n`; a query that has its own outer LIMIT comes back as it is, whatever n is.\n"
                '`add_limit("SELECT id FROM customers", 5)` gives a query of 5 rows, and '
                '`add_limit("SELECT id FROM customers LIMIT 80", 5)` still one of 80.\n'
                "One point for plain queries, one for the traps: the word limit can stand in other places, "
                "and what you append can land in the wrong one. What your SQL returns is compared, not its "
                "text."
            ),
            "hints": (
                "Where does the word LIMIT stand in a query that ends with `-- no limit`, or in "
                "`WHERE id IN (SELECT … LIMIT 5)`? Searching the text cannot tell these from the real one. "
                "And what is the last character of the query that you append to?",
                'Let a parser read the query: `sqlglot.parse_one(sql, read="sqlite")` returns a tree whose '
                "top node belongs to the outer query. A LIMIT in a subquery, a text or a comment is not "
                "among the top node's own `.args`.",
                'Parse; if `tree.args.get("limit")` is there, return sql untouched. If not, the tree has a '
                'method `.limit(n)`, and `.sql(dialect="sqlite")` writes it out again. The parser has '
                "dropped the semicolon and turned the comment into one that closes.",
            ),
        },
        {
            "name": "customers_per_city",
            "title": "Customers per city",
            "points": 1,
            "asks": "REPLY",
            "statement": (
                'Be the model: set `REPLY` to the text it would answer to "How many customers live in each '
                'city?", as bare SQL or in a Markdown fence. The chain takes the SQL out, checks it and runs '
                "it on the shop, and then on a second shop with other customers.\n"
                "The answer has one row for each city and two columns, the city and its number of customers. "
                "Names of columns and order of rows are free."
            ),
            "hints": (
                "Which table knows where a customer lives? The question does not mention orders.",
                "One row for each city means the rows are grouped by city, and each group is counted.",
                "The shape is `SELECT <what>, COUNT(*) FROM <table> GROUP BY <what>`, and no more.",
            ),
        },
        {
            "name": "cte_guard",
            "title": "A guard that understands WITH",
            "points": 3,
            "asks": "guard",
            "statement": (
                "Write `guard(sql) -> str`: return the SQL if it only reads, else raise ValueError with the "
                "reason.\n"
                "Let pass: SELECT, WITH … SELECT, VALUES, and words such as delete or update inside a text, "
                "a comment or a column's name, the function replace() included. Refuse: what is no SQL, "
                "every statement that writes, PRAGMA, ATTACH, more than one statement, and a WITH that ends "
                "in a DELETE, INSERT or UPDATE.\n"
                "One point for letting all good queries pass, one for refusing the plain bad ones, one for "
                "refusing a WITH that writes while a WITH that reads passes. A guard that treats all queries "
                "alike earns nothing."
            ),
            "hints": (
                "A list of forbidden words refuses `SELECT 'please delete'`, and a look at the first word "
                "cannot tell one WITH from another. What tells them apart is the kind of the statement.",
                '`sqlglot.parse(sql, read="sqlite")` gives one tree for each statement. How many there are '
                "and of which class the tree is (`sqlglot.exp.Select`, `exp.Delete`, …) says all you need: "
                "a WITH that deletes is a Delete.",
                "Parse; drop the empty trees that a last semicolon or comment leaves (None, or "
                "`exp.Semicolon`); refuse unless exactly one is left and it is an instance of "
                "(`exp.Query`, `exp.Values`), where Query covers SELECT and UNION. An allow-list, not a list "
                "of what is bad. Turn sqlglot's ParseError into ValueError.",
            ),
        },
        {
            "name": "repair_loop",
            "title": "A repair loop",
            "points": 3,
            "asks": "ask",
            "statement": (
                "Write `ask(question, llm, run, max_repairs=2)`. `llm(prompt)` takes a text and returns SQL; "
                "`run(sql)` returns rows or raises ValueError with the reason.\n"
                "Ask the model and run its SQL. If that fails, ask again with a prompt that holds the "
                "question, the SQL that failed and the error; at most max_repairs times after the first. "
                "Return the rows of the first SQL that runs. If none does, raise an exception whose message "
                "names the last error; never return an empty or invented answer.\n"
                "One point for returning the right rows with no needless call, one for what the repair "
                "prompt holds, one for the end: the limit kept and an honest failure."
            ),
            "hints": (
                "How often may the model be called in all, if max_repairs is 2? And what does the model know "
                "on its second call, if it is sent the same prompt as on the first?",
                "A `for` loop over `range(max_repairs + 1)`: call, then `try` to run and return. In the "
                "`except ValueError as error:` build the next prompt from the question, this SQL and "
                "str(error). What should happen after the loop?",
                "Start with `prompt = question`. In the loop: `sql = llm(prompt)`, `return run(sql)` inside "
                'try, and in except keep the error and set `prompt = f"{question}\\nThis SQL failed: … '
                '\\nError: …"`. After the loop, `raise RuntimeError(f"no answer after … attempts: …")` '
                "with the last error in it.",
            ),
        },
        {
            "name": "revenue_tool",
            "title": "A tool with parameters",
            "points": 3,
            "asks": "revenue",
            "statement": (
                "Write `revenue(city, month, db) -> float`: the paid revenue of the customers of a city in a "
                'month such as "2026-03", in rupees. Revenue is the sum of orders.amount where status is '
                "paid. `db.run(sql, params)` runs your SQL read-only, returns the rows (50 at most) and "
                "fills each `?` from params.\n"
                "0.0 where nothing was sold. Any month that does not look like 2026-03 raises "
                'ValueError("month must look like 2026-03"). The city may be any text and never becomes SQL: '
                "`Pune' OR 1=1 --` is a city where nothing was sold.\n"
                "One point for the sums, on two shops; one for the month's check; one for parameters."
            ),
            "hints": (
                "Three things go wrong in silence: orders that were refunded or never paid, the last day of "
                "the month, and a SUM over no rows, which is not 0.",
                "Check the month before the query: `re.fullmatch` with four digits, a dash and 01 to 12. In "
                "the query, let `ordered_on` begin with the month, put `?` where city and month belong, and "
                "hand both over as params.",
                "Join orders to customers, `WHERE c.city = ? AND o.status = 'paid' AND "
                "substr(o.ordered_on, 1, 7) = ?`, sum the amount and wrap it as `COALESCE(SUM(…), 0)`. The "
                "result is one row with one value: take it out and make it a float.",
            ),
        },
    ],
)
