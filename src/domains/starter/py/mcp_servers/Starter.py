"""The tools of Starter, as methods. Their schemas are in tool_lists/Starter.json, their rules in policies/Starter.md."""

import copy
import json
import os
import uuid

ENTITIES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "database", "outputs", "entities")
DUE = "2026-03-16"  # every loan is for two weeks


class Session:
    """What belongs to one dialogue: its tables, and whatever else the tools remember."""

    def __init__(self, tables):
        self.databases = copy.deepcopy(tables)


class StarterServer:
    def __init__(self, domain_name):
        with open(os.path.join(ENTITIES, "Book.json"), encoding="utf-8") as file:
            self.tables = {"Book": json.load(file), "Loan": []}
        self.sessions = {}

    def _get_session(self, session_id):
        if session_id not in self.sessions:
            self.sessions[session_id] = Session(self.tables)
        return self.sessions[session_id]

    def invoke(self, session_id, tool_name, **arguments):
        tables = self._get_session(session_id).databases
        if tool_name == "find_books":
            return self.find_books(tables, **arguments)
        if tool_name == "borrow_book":
            return self.borrow_book(tables, **arguments)
        return {"error": f"Unknown tool: {tool_name}"}

    def find_books(self, tables, title="", author=""):
        def fits(book):
            return title.lower() in book["title"].lower() and author.lower() in book["author"].lower()

        return {"books": [book for book in tables["Book"] if fits(book)]}

    def borrow_book(self, tables, book_id, member_id, confirm=False):
        book = next((book for book in tables["Book"] if book["book_id"] == book_id), None)
        if book is None:
            return {"error": f"There is no book {book_id}."}
        if not book["available"]:
            return {"error": f"{book['title']} is on loan until {book['due_back']}."}
        if not confirm:
            return {"needs_confirmation": True, "action_preview": f"Lend {book['title']} until {DUE}."}
        loan_id = f"LOAN-{uuid.uuid4().hex[:8]}"
        tables["Loan"].append({"loan_id": loan_id, "book_id": book_id, "member_id": member_id, "due": DUE})
        book.update(available=False, due_back=DUE)
        return {"success": True, "loan_id": loan_id, "due": DUE}
