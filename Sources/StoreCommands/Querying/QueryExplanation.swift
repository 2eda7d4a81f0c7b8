internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import RemoteStore
internal import SQLQueries
internal import WebBackend

/// Explains how a store executes a query.
package struct QueryExplanation {
    private let query: Query

    package init(_ query: Query) { self.query = query }

    package func json() throws -> JSONValue {
        if let service = query.store.service {
            return try query.store.read {
                let plan = try query.request(NSManagedObject.self).explain(in: query.store.context)
                let lines = "\(plan)".split(separator: "\n").map { JSONValue.string(String($0)) }
                return .members([
                    "kind": .string(query.store.kind.rawValue), "way": .string("requests"),
                    "requests": .array(try service.requests(of: plan).map(JSONValue.string)), "plan": .array(lines),
                ])
            }
        }
        if query.store.kind == .sqlite || query.store.kind == .postgreSQL {
            return try query.store.read {
                let storeQuery = try query.store.context.storeQuery(for: query.request(NSManagedObject.self))
                do {
                    guard let explanation = try query.store.explanation(of: storeQuery) else { return memory }
                    return .members([
                        "kind": .string(query.store.kind.rawValue), "way": .string("sql"), "sql": .string(explanation.sql),
                        "values": .array(explanation.values.map(JSONValue.string)), "plan": .array(explanation.steps.map(JSONValue.string)),
                    ])
                } catch  where SQLQueryError.isUntranslatable(error) {
                    return .members([
                        "kind": .string(query.store.kind.rawValue), "way": .string("partly in memory"),
                        "note": .string(
                            "A clause has no SQL: it is evaluated in memory, for the rows that the others leave. "
                                + ((error as NSError).localizedFailureReason ?? "")),
                    ])
                }
            }
        }
        return memory
    }

    /// The explanation for a store that is completely in memory.
    private var memory: JSONValue {
        .members([
            "kind": .string(query.store.kind.rawValue), "way": .string("memory"),
            "note": .string("The store is in memory as a whole: predicate, order and limit are applied there."),
        ])
    }

    package func write(_ format: OutputFormat, to output: any Output) throws {
        let json = try json()
        if format == .json { return try output.line(json.text()) }
        func strings(_ name: String) -> [String] {
            guard case .array(let elements)? = json[name] else { return [] }
            return elements.compactMap { if case .string(let text) = $0 { text } else { nil } }
        }
        if case .string(let sql)? = json["sql"] {
            try output.line(DisplayText.lines(sql))
            for (index, value) in strings("values").enumerated() { try output.line("  ?\(index + 1) = \(DisplayText.line(value))") }
            try output.line("\nPlan:")
            for step in strings("plan") { try output.line("  \(DisplayText.line(step))") }
        }
        for request in strings("requests") { try output.line(DisplayText.line(request)) }
        if json["requests"] != nil {
            try output.line("\nPlan:")
            for step in strings("plan") { try output.line("  \(DisplayText.line(step))") }
        }
        if case .string(let note)? = json["note"] { try output.line(DisplayText.lines(note)) }
    }
}
