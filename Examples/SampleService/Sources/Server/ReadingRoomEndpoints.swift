internal import Foundation

/// The part of the service with an API of its own, which filters, sorts, divides into pages and saves: the one of the tutorial.
struct ReadingRoomEndpoints {
    private static let largestPage = 4

    /// Returns the answer, and makes the change that the question asks for; nil when the path is not one of the reading room's.
    static func answer(_ question: Question, room: inout ReadingRoom) -> Answer? {
        let parts = question.path.split(separator: "/").map(String.init)
        guard parts.count >= 2, parts.count <= 3, parts[0] == "room" else { return nil }
        let id = parts.count == 3 ? Int(parts[2]) : nil
        if parts.count == 3, id == nil { return missing }
        switch (parts[1], question.method) {
        case ("authors", "GET"): return authors(question, id, room)
        case ("books", "GET"): return id.map { book($0, room) } ?? books(question, room)
        case ("books", "POST") where id == nil, ("books", "PATCH") where id != nil: return save(question, id, &room)
        case ("books", "DELETE"): return id.map { room.remove($0) ? Answer(status: 204, body: Data()) : missing } ?? notAllowed
        case ("authors", _), ("books", _): return notAllowed
        default: return nil
        }
    }

    // MARK: Reading

    private static func authors(_ question: Question, _ id: Int?, _ room: ReadingRoom) -> Answer {
        if let id { return room.authors.first { $0.id == id }.map { .json($0.json) } ?? missing }
        let found = room.authors.filter { question.parameters["name"] == nil || $0.name == question.parameters["name"] }
        return .json(["items": .array(found.map(\.json)), "total": .integer(found.count)])
    }

    private static func book(_ id: Int, _ room: ReadingRoom) -> Answer { room.books[id].map { .json($0.json) } ?? missing }

    private static func books(_ question: Question, _ room: ReadingRoom) -> Answer {
        let parameters = question.parameters
        for name in ["author_id", "min_year", "max_year", "offset", "limit"] where parameters[name].map({ Int($0) == nil }) ?? false {
            return error("\(name) is not a number", status: 400)
        }
        func number(_ name: String) -> Int? { parameters[name].flatMap { Int($0) } }
        var found = room.books.values.filter { book in
            book.author == number("author_id") ?? book.author && book.year >= number("min_year") ?? .min
                && book.year <= number("max_year") ?? .max && parameters["title"].map { book.title.contains($0) } ?? true
        }
        let sort = parameters["sort"] ?? "id"
        let isDescending = sort.hasPrefix("-")
        found.sort { left, right in
            let (first, second) = isDescending ? (right, left) : (left, right)
            switch sort.drop(while: { $0 == "-" }) {
            case "title":
                return (first.title.unicodeScalars.map(\.value)).lexicographicallyPrecedes(second.title.unicodeScalars.map(\.value))
            case "year": return (first.year, left.id) < (second.year, right.id)
            default: return first.id < second.id
            }
        }
        let page = found.dropFirst(max(0, number("offset") ?? 0)).prefix(min(max(1, number("limit") ?? largestPage), largestPage))
        return .json(["items": .array(page.map(\.json)), "total": .integer(found.count)])
    }

    // MARK: Saving

    private static func save(_ question: Question, _ id: Int?, _ room: inout ReadingRoom) -> Answer {
        let old = id.flatMap { room.books[$0] }
        if id != nil, old == nil { return missing }
        guard let sent = try? JSONSerialization.jsonObject(with: question.body) as? [String: Any] else {
            return error("the body is no JSON object", status: 400)
        }
        let title = sent["title"] as? String ?? old?.title ?? ""
        let author = sent["author_id"] as? Int ?? old?.author ?? 0
        var problems: [JSON] = []
        if title.isEmpty { problems.append(["field": "title", "message": "A book needs a title."]) }
        if !room.authors.contains(where: { $0.id == author }) {
            problems.append(["field": "author_id", "message": "There is no such author."])
        }
        guard problems.isEmpty else {
            return .json(["message": "The book was not saved.", "errors": .array(problems)], status: 422)
        }
        let book = room.put(
            id, title: title, year: sent["year"] as? Int ?? old?.year ?? 0, author: author,
            isLent: sent["is_lent"] as? Bool ?? old?.isLent ?? false)
        return .json(book.json, status: id == nil ? 201 : 200)
    }

    private static var missing: Answer { error("there is no such thing", status: 404) }
    private static var notAllowed: Answer { error("not allowed here", status: 405) }
    private static func error(_ message: String, status: Int) -> Answer { .json(["message": .string(message)], status: status) }
}

extension ReadingRoom.Author {
    fileprivate var json: JSON { ["id": .integer(id), "name": .string(name)] }
}

extension ReadingRoom.Book {
    fileprivate var json: JSON {
        ["id": .integer(id), "title": .string(title), "year": .integer(year), "author_id": .integer(author), "is_lent": .boolean(isLent)]
    }
}
