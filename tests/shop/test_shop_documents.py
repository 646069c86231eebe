"""Rows as documents: nothing lost on the way, ids that lead back, and an index that follows the rows."""

import re
from collections import Counter

import pytest
from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.vectorstores import InMemoryVectorStore

from course_utils import places, shop
from course_utils.models import weights
from course_utils.retrieval import GUEST, Caller, DenseIndex
from course_utils.shop import documents
from course_utils.shop.parts import count, parts


class Counting(DeterministicFakeEmbedding):
    """A fake embedding that remembers what it was given."""

    seen: list[str] = []

    def embed_documents(self, texts):
        self.seen.extend(texts)
        return super().embed_documents(texts)


@pytest.fixture(scope="module")
def everything(full):
    return documents.load(path=full)


@pytest.fixture
def own_shop(full, tmp_path):
    copy = tmp_path / "own.db"
    copy.write_bytes(full.read_bytes())
    return copy


def test_every_row_becomes_a_document_or_several_parts_of_one(everything, full):
    rows = {document.id.partition("#")[0] for document in everything}
    counts = shop.counts(full)
    assert Counter(id.partition(":")[0] for id in rows) == {
        table.removesuffix("s"): counts[table] for table in documents.TABLES
    }
    assert len({document.id for document in everything}) == len(everything)


def test_an_id_leads_back_to_its_row(everything, full):
    for document in everything[::37]:
        row = documents.row(document.id, full)
        assert row["id"] == document.metadata["id"]
        assert documents.get(document.id, full) == document
    assert documents.row("product:12", full)["sku"] == "SKU-77821"
    assert documents.row("article:warranty-terms#2", full) == documents.row("article:warranty-terms", full)


@pytest.mark.parametrize(
    "id", ["product:9999", "article:no-such", "product", "staff:1", "", "product:x", ":1"]
)
def test_an_unknown_id_is_a_key_error(id, full):
    for look in (documents.get, documents.row):
        with pytest.raises(KeyError):
            look(id, full)


def test_metadata_keep_their_types(everything):
    plug = next(document for document in everything if document.id == "product:12")
    assert plug.metadata == {
        "table": "products",
        "audience": "public",
        "id": 12,
        "sku": "SKU-77821",
        "name": "Aurora Smart Plug",
        "category": "Smart plugs and switches",
        "branch": "Connected devices",
        "supplier": "Coromandel Connected",
        "price": 899.0,
        "launched_on": "2022-10-13",
        "status": "active",
    }
    kinds = {(key, type(value)) for document in everything for key, value in document.metadata.items()}
    assert {kind for key, kind in kinds if key == "price"} == {float}
    assert {kind for key, kind in kinds if key in {"stars", "id", "part", "customer_id"}} == {int}
    assert {kind for key, kind in kinds if key == "error_code"} == {str, type(None)}
    days = [value for d in everything for key, value in d.metadata.items() if key.endswith("_on")]
    assert all(re.fullmatch(r"20\d\d-[01]\d-[0-3]\d", value) for value in days)


def test_who_may_see_what(everything, full):
    seen = {(document.metadata["table"], document.metadata["audience"]) for document in everything}
    assert seen == {
        ("products", "public"),
        ("reviews", "public"),
        ("tickets", "staff"),
        *(("articles", audience) for audience in ("public", "partner", "staff")),
    }
    for document in everything:
        if document.metadata["table"] == "articles":
            assert document.metadata["audience"] == documents.row(document.id, full)["audience"]


def test_the_model_reads_every_text_to_its_end(everything):
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(weights.folder() / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    lengths = {d.id: len(tokenizer.encode(d.page_content).ids) for d in everything}
    assert max(lengths.values()) <= 256, max(lengths, key=lengths.__getitem__)


def test_parts_lose_nothing_and_repeat_their_heading(everything, full):
    whole, by_row = 0, {}
    for document in everything:
        by_row.setdefault(document.id.partition("#")[0], []).append(document)
    for id, pieces in by_row.items():
        row = documents.row(id, full)
        body = row["description"] if id.startswith("product:") else row["body"]
        words = Counter(re.findall(r"\w+", body))
        held = Counter(word for piece in pieces for word in re.findall(r"\w+", piece.page_content))
        assert not words - held, id
        if len(pieces) == 1:
            whole += 1
            assert "part" not in pieces[0].metadata and "#" not in id
            continue
        assert [piece.id for piece in pieces] == [f"{id}#{n}" for n in range(1, len(pieces) + 1)]
        for n, piece in enumerate(pieces, start=1):
            assert (piece.metadata["part"], piece.metadata["parts"]) == (n, len(pieces))
            if heading := piece.metadata["heading"]:
                assert f"\n{heading}\n" in piece.page_content
    assert 500 < whole < len(by_row)


def test_parts_by_hand():
    short = parts("Title", "One paragraph.\n\n## Head\n\nAnother.")
    assert [(part.heading, part.text) for part in short] == [
        (None, "Title\n\nOne paragraph.\n\n## Head\n\nAnother.")
    ]
    long = " ".join(["word"] * 120)
    first, second, third = parts("Title", f"{long}\n\n## Colours\n\n{long}. {long}.")
    assert (first.heading, second.heading, third.heading) == (None, "Colours", "Colours")
    assert first.text == f"Title\n\n{long}"
    assert second.text.startswith("Title\nColours\n\nword") and third.text.startswith(
        "Title\nColours\n\nword"
    )
    assert count("SKU-77821, blue") == 5
    one_word = parts("T", "x" * 5000)
    assert "".join(part.text.removeprefix("T\n\n") for part in one_word) == "x" * 5000 and len(one_word) > 5


SENTENCES = "Alpha beta; gamma delta: is it so? Epsilon says 1.5 volts, no more. " * 40


@pytest.mark.parametrize(
    ("head", "body"),
    [
        ("T", SENTENCES),
        ("T", f"## A\n\n{SENTENCES}\n\n## B\n\n## C\n\n- one\n- two\n\n{SENTENCES}"),
        ("great " * 210, SENTENCES),
        ("T", f"## {'long heading ' * 120}\n\n{SENTENCES}"),
        ("T", "\n".join(f"## heading {n}" for n in range(200))),
        ("T", "设备无法配对请重置并重新连接网络" * 60),
    ],
)
def test_parts_hold_the_bodys_words_in_order_and_nothing_of_their_own(head, body):
    found = parts(head, body)
    assert found and all(count(part.text) <= 210 for part in found)
    held = "".join(part.text.split("\n\n", 1)[1] for part in found)
    shown = [part.heading for part in found if part.heading]
    told = re.sub(r"\W|_", "", re.sub(r"^## ", "", body, flags=re.M))
    for heading in dict.fromkeys(shown):  # a heading stands above its parts, not in them
        told = told.replace(re.sub(r"\W|_", "", heading), "", 1)
    assert re.sub(r"\W|_", "", held) == told
    assert "?<=" not in held


def test_one_customers_long_title_stops_nobody(own_shop, change):
    change(
        own_shop,
        f"INSERT INTO reviews VALUES (9001, 12, 1, 5, '{'great ' * 210}', '{'word ' * 900}', '2026-06-30')",
    )
    found = [d for d in documents.load("reviews", own_shop) if d.id.startswith("review:9001")]
    assert 1 < len(found) < 20


def test_some_tables_only(full):
    assert {d.metadata["table"] for d in documents.load("products", full)} == {"products"}
    assert {d.metadata["table"] for d in documents.load(("reviews", "tickets"), full)} == {
        "reviews",
        "tickets",
    }
    with pytest.raises(ValueError, match="No documents are made of 'orders', only of products, articles"):
        documents.load("orders", full)


def stores():
    return (
        lambda embedding: DenseIndex([], embedding),
        InMemoryVectorStore,
    )


@pytest.mark.parametrize("make", stores(), ids=["DenseIndex", "InMemoryVectorStore"])
def test_an_index_follows_inserts_updates_and_deletes_and_nothing_else(make, own_shop, change):
    embedding = Counting(size=8, seen=[])
    store = make(embedding)
    first = documents.sync(store, path=own_shop)
    assert len(first.added) == len(documents.load(path=own_shop)) and not first.updated and not first.deleted
    assert documents.sync(store, path=own_shop) == documents.Changes()
    embedding.seen.clear()
    change(
        own_shop,
        """INSERT INTO reviews VALUES (9001, 12, 1, 5, 'new', 'A new review.', '2026-06-30');
        UPDATE products SET description = 'Changed.' WHERE id = 50;
        DELETE FROM tickets WHERE id = 3;
        UPDATE articles SET body = 'Now short.' WHERE slug = 'warranty-terms';""",
    )
    done = documents.sync(store, path=own_shop)
    assert sorted(document.id for document in done.added) == ["article:warranty-terms", "review:9001"]
    assert [document.id for document in done.updated] == ["product:50"]
    assert {id.partition("#")[0] for id in done.deleted} == {"ticket:3", "article:warranty-terms"}
    assert str(done) == f"2 added, 1 updated, {len(done.deleted)} deleted" and done
    assert sorted(embedding.seen) == sorted(d.page_content for d in done.added + done.updated)
    fresh = {document.id: document for document in documents.load(path=own_shop)}
    held = store.documents if isinstance(store, DenseIndex) else store.store
    assert set(held) == set(fresh)
    assert not documents.sync(store, path=own_shop)


def test_a_new_price_is_followed_without_embedding_anything(own_shop, change):
    embedding = Counting(size=8, seen=[])
    index = DenseIndex([], embedding)
    documents.sync(index, "products", own_shop)
    embedding.seen.clear()
    change(own_shop, "UPDATE products SET price = 1.0 WHERE id = 12")
    assert [document.id for document in documents.sync(index, "products", own_shop).updated] == ["product:12"]
    assert embedding.seen == [] and index.documents["product:12"].metadata["price"] == 1.0


def test_a_new_product_name_reaches_its_reviews(own_shop, change):
    seen = documents.snapshot(documents.load("reviews", own_shop))
    change(own_shop, "UPDATE products SET name = 'Renamed Plug' WHERE id = 12")
    changes = documents.changed_since(seen, "reviews", own_shop)
    assert changes.updated and all(d.page_content.startswith("Renamed Plug: ") for d in changes.updated)
    assert {document.metadata["product_id"] for document in changes.updated} == {12}


def test_what_is_not_the_shops_is_left_alone(own_shop):
    embedding = Counting(size=8, seen=[])
    mine = Document(id="note:1", page_content="mine", metadata={"audience": "staff"})
    index = DenseIndex([mine], embedding)
    documents.sync(index, "products", own_shop)
    documents.sync(index, "tickets", own_shop)
    assert not documents.sync(index, ("products", "tickets"), own_shop)
    assert index.documents["note:1"] == mine


def test_an_interrupted_sync_is_finished_by_the_next(own_shop):
    class Failing(Counting):
        def embed_documents(self, texts):
            if len(self.seen) == 0:
                self.seen.append("failed once")
                raise ConnectionError("gone")
            return super().embed_documents(texts)

    index = DenseIndex([], Failing(size=8, seen=[]))
    with pytest.raises(ConnectionError):
        documents.sync(index, "products", own_shop)
    assert len(documents.sync(index, "products", own_shop).added) == 180


def test_what_may_no_longer_be_seen_goes_although_the_model_is_away(own_shop, change):
    class Away(Counting):
        here: bool = True

        def embed_documents(self, texts):
            if not self.here:
                raise ConnectionError("gone")
            return super().embed_documents(texts)

    embedding = Away(size=8, seen=[])
    index = DenseIndex([], embedding)
    documents.sync(index, "articles", own_shop)
    embedding.here = False
    change(
        own_shop,
        "UPDATE articles SET audience = 'staff' WHERE slug = 'returns-policy';"
        "UPDATE articles SET audience = 'staff', body = 'Secret now.' WHERE slug = 'cash-on-delivery';"
        "INSERT INTO articles VALUES (999, 'new-one', 'New', 'New.', NULL, 'public', '2026-06-30', NULL);",
    )
    with pytest.raises(ConnectionError):
        documents.sync(index, "articles", own_shop)
    seen = {id for id, _ in index.ranking("x", caller=GUEST, k=999)}
    assert not {id for id in seen if "returns-policy#" in id or "cash-on-delivery" in id}
    embedding.here = True
    documents.sync(index, "articles", own_shop)
    assert not documents.sync(index, "articles", own_shop) and "article:new-one" in index.documents


def test_tables_may_come_one_by_one(own_shop, change):
    index = DenseIndex([], Counting(size=8, seen=[]))
    documents.sync(index, (table for table in ["reviews", "reviews"]), own_shop)
    change(own_shop, "DELETE FROM reviews WHERE id = 31")
    assert documents.sync(index, (table for table in ["reviews"]), own_shop).deleted == ["review:31"]


def test_a_store_that_refuses_known_ids_is_synced_too(own_shop, change):
    class Strict:
        def __init__(self):
            self.held = {}

        def add_documents(self, fresh, ids):
            if set(ids) & set(self.held):
                raise ValueError("Tried to add ids that already exist")
            self.held |= dict(zip(ids, fresh, strict=True))

        def delete(self, ids):
            for id in ids:
                self.held.pop(id, None)

    store = Strict()
    documents.sync(store, "products", own_shop, seen={})
    seen = documents.snapshot(store.held.values())
    change(own_shop, "UPDATE products SET price = 1.0 WHERE id = 12")
    documents.sync(store, "products", own_shop, seen=seen)
    assert store.held["product:12"].metadata["price"] == 1.0 and len(store.held) == 180


def test_a_store_that_cannot_tell_what_it_holds_needs_a_snapshot(own_shop):
    class Mute:
        def __init__(self):
            self.got = []

        def add_documents(self, fresh, ids):
            self.got += ids

        def delete(self, ids):
            raise AssertionError

    store = Mute()
    with pytest.raises(TypeError, match=r"Mute does not say which documents it holds.*seen=seen"):
        documents.sync(store, "products", own_shop)
    seen = documents.snapshot(documents.load("products", own_shop)[1:])
    documents.sync(store, "products", own_shop, seen=seen)
    assert store.got == ["product:1"]


def test_tickets_are_found_by_staff_alone(full):
    index = DenseIndex(documents.load("tickets", full), Counting(size=8, seen=[]))
    assert index.search("plug", caller=GUEST) == []
    assert len(index.search("plug", caller=Caller("lakshmi", "staff"))) == 5


def test_nothing_private_is_in_any_document(everything):
    told = "\n".join(f"{document.page_content} {document.metadata}" for document in everything)
    assert "CANARY" not in told and "@mail.example" not in told and "plover-quartz" not in told
    assert (places.data() / "staff_notes.csv").read_text(encoding="utf-8").count("CANARY") >= 20
