/// The part of the service that answers like COLOURlovers.
struct ColourLoversEndpoints: Sendable {
    let catalog: PaletteCatalog

    /// The maximum number of palettes in an answer, for any requested number.
    private static let largestPage = 100
    private static let defaultPage = 20

    /// Returns the answer; nil when the path is not one of COLOURlovers'.
    func answer(_ question: Question) -> Answer? {
        let identifierPrefix = "/api/palette/"
        let isTop = question.path == "/api/palettes/top"
        guard isTop || question.path.hasPrefix(identifierPrefix) else { return nil }
        guard (question.parameters["format"] ?? "json") == "json" else { return .error("only format=json is served", status: 400) }
        return isTop ? top(question) : palette(String(question.path.dropFirst(identifierPrefix.count)), question)
    }

    private func top(_ question: Question) -> Answer {
        guard let count = number("numResults", in: question, default: Self.defaultPage) else { return notANumber("numResults") }
        guard let offset = number("resultOffset", in: question, default: 0) else { return notANumber("resultOffset") }
        let page = catalog.ranked.dropFirst(offset).prefix(min(count, Self.largestPage))
        return list(Array(page), question)
    }

    /// Returns a list with one palette, or an empty list when it is unknown: this service returns lists only.
    private func palette(_ identifier: String, _ question: Question) -> Answer {
        list(Int(identifier).flatMap { catalog.palette(id: $0) }.map { [$0] } ?? [], question)
    }

    private func list(_ palettes: [SamplePalette], _ question: Question) -> Answer {
        let showsWidths = question.parameters["showPaletteWidths"] == "1"
        return Answer.json(.array(palettes.map { $0.json(showsWidths: showsWidths) })).tagged
    }

    /// Returns the number in a parameter; nil for another or a negative value.
    private func number(_ name: String, in question: Question, default missing: Int) -> Int? {
        guard let text = question.parameters[name] else { return missing }
        return Int(text).flatMap { $0 >= 0 ? $0 : nil }
    }

    private func notANumber(_ parameter: String) -> Answer {
        .error("\(parameter) is not a number from 0 up", status: 400)
    }
}

extension SamplePalette {
    fileprivate func json(showsWidths: Bool) -> JSON {
        let slug = title.slug(or: "palette")
        let site = "http://palettes.example.com"
        var members: [String: JSON] = [
            "id": .integer(id), "title": .string(title), "userName": .string(userName), "numViews": .integer(viewCount),
            "numVotes": .integer(voteCount), "numComments": .integer(commentCount), "numHearts": .number(heartCount),
            "rank": .integer(rank), "dateCreated": .string(dateCreated), "description": .string(text),
            "colors": .array(colors.map(JSON.string)), "url": .string("\(site)/palette/\(id)/\(slug)"),
            "imageUrl": .string("\(site)/paletteImg/\(colors.joined(separator: "/"))/\(slug).png"),
            "badgeUrl": .string("\(site)/images/badges/p/\(id)_\(slug).png"), "apiUrl": .string("\(site)/api/palette/\(id)"),
        ]
        if showsWidths { members["colorWidths"] = .array(colorWidths.map(JSON.number)) }
        return .object(members)
    }
}
