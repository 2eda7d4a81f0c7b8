/// The books of a reading room that does not exist, and their authors: what the API with filters, pages and saving is about.
struct ReadingRoom: Sendable {
    struct Author: Sendable {
        let id: Int
        let name: String
    }

    struct Book: Sendable {
        let id: Int
        var title: String
        var year: Int
        var author: Int
        var isLent = false
    }

    let authors: [Author]
    private(set) var books: [Int: Book]
    private var nextBook: Int

    init(authors: [Author], books: [Book]) {
        self.authors = authors
        self.books = Dictionary(uniqueKeysWithValues: books.map { ($0.id, $0) })
        nextBook = (books.map(\.id).max() ?? 0) + 1
    }

    /// Adds a book, or replaces the one with its number; nil takes the next number.
    mutating func put(_ id: Int?, title: String, year: Int, author: Int, isLent: Bool) -> Book {
        let book = Book(id: id ?? nextBook, title: title, year: year, author: author, isLent: isLent)
        if id == nil { nextBook += 1 }
        books[book.id] = book
        return book
    }

    /// Removes a book; returns whether there was one.
    mutating func remove(_ id: Int) -> Bool { books.removeValue(forKey: id) != nil }

    static let invented = ReadingRoom(
        authors: [
            Author(id: 1, name: "Ada Brackwater"), Author(id: 2, name: "Jonas Kell"), Author(id: 3, name: "Mirja Tuule"),
        ],
        books: [
            Book(id: 1, title: "The Ferry Keeper", year: 1958, author: 1), Book(id: 2, title: "Salt and Iron", year: 1961, author: 1),
            Book(id: 3, title: "A Table of Tides", year: 1974, author: 2), Book(id: 4, title: "The Fog Year", year: 1980, author: 1),
            Book(id: 5, title: "Lamps", year: 1983, author: 3, isLent: true), Book(id: 6, title: "Harbour Cats", year: 1991, author: 2),
            Book(id: 7, title: "The Last Pilot", year: 1999, author: 3), Book(id: 8, title: "Grey Water", year: 2004, author: 1),
            Book(id: 9, title: "The Ebb", year: 2011, author: 2),
        ])
}
