internal import Foundation
internal import ObjectGraph

/// The forms of results.
package enum OutputFormat: String, Sendable, CaseIterable {
    case table, json, csv
}

/// Writes the results of a query while they are being read.
package struct QueryPrinter {
    /// The number of rows that determine the widths of a table's columns.
    private static let decidingRows = 200

    private let query: Query
    private let output: any Output

    package init(_ query: Query, to output: any Output) { (self.query, self.output) = (query, output) }

    package func write(_ format: OutputFormat) throws {
        switch format {
        case .table: try writeTable()
        case .json: try writeJSON()
        case .csv: try writeCSV()
        }
    }

    private func writeTable() throws {
        var table = TextTable(["ID"] + query.columns.map(\.text), width: output.width)
        var count = 0
        try query.forEach { object in
            count += 1
            table.add([.init(ValueText.short(object.objectID))] + query.columns.map { $0.cell(of: object) })
            if table.count >= Self.decidingRows { try table.write(to: output) }
        }
        try table.write(to: output)
        try output.line(count == 0 ? "No objects." : DisplayText.counted(count, "object") + ".")
    }

    private func writeJSON() throws {
        var isFirst = true
        try output.write("[")
        try query.forEach { object in
            try output.write((isFirst ? "\n" : ",\n") + json(of: object).text(indent: false))
            isFirst = false
        }
        try output.line(isFirst ? "]" : "\n]")
    }

    private func json(of object: NSManagedObject) -> JSONValue {
        let id = JSONValue.string(object.objectID.uriRepresentation().absoluteString)
        let columns = query.columns.map { JSONValue.Member(name: $0.text, value: $0.json(of: object)) }
        return .object(
            [.init(name: "$id", value: id), .init(name: "$entity", value: .string(object.entity.name ?? ""))] + columns)
    }

    private func writeCSV() throws {
        func line(_ fields: [String]) throws {
            let text = fields.joined(separator: ",")
            // In a file, text stays as it is in the store; a terminal would interpret it.
            try output.line(output.width == nil ? text : DisplayText.lines(text))
        }
        try line(["$id"] + query.columns.map { ValueText.field(.string($0.text)) })
        try query.forEach { object in
            try line([object.objectID.uriRepresentation().absoluteString] + query.columns.map { $0.field(of: object) })
        }
    }
}
