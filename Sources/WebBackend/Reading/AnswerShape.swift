internal import JSONReading
internal import WebTransport

/// Describes answers that contradict their description.
enum AnswerShape {
    /// Describes an answer, without its values.
    static func text(_ response: WebResponse, _ body: JSONValue?, clean: (String) -> String) -> String {
        if let body { return text(body, clean: clean) }
        guard response.body.contains(where: { $0 > 0x20 }) else {
            return "no body" + (response.headers["Location"] == nil ? "" : ", and a header “Location”")
        }
        let beginning = String(decoding: response.body.prefix(80), as: UTF8.self)
        return "a body that is no JSON, “\(clean(beginning))\(response.body.count > 80 ? "…" : "")”"
    }

    /// Describes the kind of a value, without its content.
    static func text(_ value: JSONValue, clean: (String) -> String) -> String {
        if let object = value.object {
            let names = object.map(\.key)
            if names.isEmpty { return "an object with nothing" }
            return
                "an object with \(clean(names.prefix(8).map { "“\($0.prefix(40))”" }.joined(separator: ", ")))\(names.count > 8 ? ", …" : "")"
        }
        if let array = value.array {
            guard let first = array.first else { return "a list of nothing" }
            return "a list of \(array.count), the first of which is \(first.array == nil ? text(first, clean: clean) : "a list")"
        }
        if value.isNull { return "null" }
        return value.string != nil ? "a text" : value.bool != nil ? "true or false" : "a number"
    }
}
