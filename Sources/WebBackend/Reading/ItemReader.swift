internal import Foundation
internal import JSONReading
internal import ObjectGraph
internal import Predicates
internal import PropertyLists
internal import RemoteStore

/// Reads the resources of one answer directly from JSON into rows.
final class ItemReader {
    let shapes: ItemShapes
    let request: BackendRequest
    @exclusivity(unchecked) var answer: BackendAnswer
    /// The resource that the call requests by its identifier; nil for another call, or for several identifiers.
    private let asked: ResourceID?
    /// Whether the requested resource has come, and the first other resource that has come.
    @exclusivity(unchecked) private var hasComeAsAsked = false
    @exclusivity(unchecked) private var other: ResourceID?
    /// Whether it is an error if identifiers and references come in several forms.
    let checksForms: Bool
    /// Writers that are not in use. Each nested resource needs one for its entity.
    @exclusivity(unchecked) private var idle: [ItemSink] = []

    /// The state of a resource while it is read.
    struct Item {
        var id: ResourceID?
        var parts: [ResourceID?]
        var version: ResourceVersion?
        /// The reason why the whole resource is unreadable.
        var failure: (any Error)?
        /// The properties that cannot be read, with the reasons.
        var unread: [BackendAnswer.Unread] = []
        /// Whether each property has come, if missing ones are nil; empty if that does not matter.
        var seen: [Bool] = []
        /// Whether any property was read.
        var hasValues = false

        init(_ count: Int) { parts = count > 1 ? Array(repeating: nil, count: count) : [] }

        mutating func note(_ property: Int) { if !seen.isEmpty { seen[property] = true } }
    }

    /// - Parameter isOfOne: Whether the call returns the resource with the identifier that it is given.
    init(_ shapes: ItemShapes, _ request: BackendRequest, isOfOne: Bool = false, checksForms: Bool = true) {
        self.shapes = shapes
        self.checksForms = checksForms
        self.request = request
        let ids = isOfOne ? request.ids("SELF") : []
        asked = ids.count == 1 ? ids[0] : nil
        answer = request.answer()
    }

    // MARK: Resources

    /// Reads a resource, and adds it to the results.
    ///
    /// - Parameters:
    ///   - key: The identifier, if the resource itself lacks it.
    ///   - tag: The version, if the resource itself lacks it.
    func read(
        _ scanner: inout JSONScanner, _ plan: ItemPlan, key: String? = nil, tag: String? = nil,
        implied: [(index: Int, value: ResourceValue)] = [],
        omitted: [Int] = []
    ) throws {
        let entity = try kind(&scanner, plan)
        let sink = try take(entity, plan)
        defer { give(sink) }
        let start = scanner.position
        sink.writer.begin()
        for (index, value) in implied {
            if let column = sink.columns[index] { _ = sink.writer.set(value, column) }
        }
        var item = Item(plan.partCount)
        if !omitted.isEmpty {
            item.seen = Array(repeating: false, count: plan.properties.count)
            for (index, _) in implied { item.seen[index] = true }
        }
        try readValues(&scanner, plan, plan.shape, sink, &item)
        for index in omitted where !item.seen[index] { if let column = sink.columns[index] { setNil(column, sink.writer) } }
        if let key, item.id == nil { item.id = ResourceID(key: key, plan.plan.identifier) }
        if item.version == nil, let tag { item.version = .tag(tag) }
        let end = scanner.position
        guard item.failure == nil, let id = identifier(item, plan) else {
            let raw = Self.raw(scanner, start..<end)
            answer.addUnreadable(
                sink.writer, id: identifier(item, plan),
                reason: item.failure
                    ?? WebBackendError.answer(
                        request.description,
                        "A resource has no identifier at \(plan.plan.identity.joined(separator: ", ")), where its identity is said to be: \(Self.shortened(raw))",
                        next: "Let the description's “identity” name where it is, or “unreadable: reported” leave such resources out."),
                raw: raw)
            return
        }
        if checksForms { try plan.forms.noteRow(id, plan.plan, request.description) }
        if let asked { if id.isSame(as: asked) { hasComeAsAsked = true } else { other = other ?? id } }
        if item.unread.isEmpty { return answer.add(sink.writer, id: id, version: item.version) }
        let raw = Self.raw(scanner, start..<end)
        answer.add(sink.writer, id: id, version: item.version, unread: item.unread, raw: raw)
    }

    /// Checks that the requested resource has come, if any has: another one in its place does not mean that it was deleted.
    func checkAsked(_ plan: ResourcePlan) throws {
        guard let asked, let other, !hasComeAsAsked else { return }
        throw WebBackendError.unfit(
            request.description, "the resource \(asked)", "\(other) at “\(plan.identity.joined(separator: "”, “"))”")
    }

    /// Adds the failure for an element that has no resource.
    func addMissing(_ scanner: borrowing JSONScanner, from start: Int, _ plan: ItemPlan, at place: String) throws {
        let raw = Self.raw(scanner, start..<scanner.position)
        let reason = WebBackendError.answer(request.description, "There is nothing at “\(place)” of \(Self.shortened(raw)).")
        answer.addUnreadable(try answer.writer(plan.plan.entity), id: nil, reason: reason, raw: raw)
    }

    /// Reads an included resource.
    ///
    /// - Returns: The identifier; nil for a resource without one.
    /// - Parameter isWhole: Whether missing values are nil.
    func readEmbedded(_ scanner: inout JSONScanner, _ plan: ItemPlan, isWhole: Bool = false) throws -> ResourceReference? {
        let entity = try kind(&scanner, plan)
        guard let (id, _) = try readEmbedded(&scanner, plan, entity, isWhole) else { return nil }
        return ResourceReference(id, entity: plan.plan.kinds == nil ? nil : entity)
    }

    private func readEmbedded(
        _ scanner: inout JSONScanner, _ plan: ItemPlan, _ entity: String, _ isWhole: Bool
    ) throws -> (id: ResourceID, row: ResourceObjectID)? {
        let sink = try take(entity, plan)
        defer { give(sink) }
        sink.writer.begin()
        let start = scanner.position
        var item = Item(plan.partCount)
        if isWhole { item.seen = Array(repeating: false, count: plan.properties.count) }
        try readValues(&scanner, plan, plan.shape, sink, &item)
        for (index, isSeen) in item.seen.enumerated() where !isSeen {
            if let column = sink.columns[index] { _ = sink.writer.setNull(column) }
        }
        guard let id = identifier(item, plan) else {
            sink.writer.cancel()
            return nil
        }
        let row = sink.writer.objectID(of: id)
        if !item.unread.isEmpty {
            let raw = Self.raw(scanner, start..<scanner.position)
            answer.embed(sink.writer, id: row, version: item.version, unread: item.unread, raw: raw)
        } else if item.hasValues {
            answer.embed(sink.writer, id: row, version: item.version)
        } else {
            sink.writer.cancel()
        }
        return (id, row)
    }

    private static func raw(_ scanner: borrowing JSONScanner, _ range: Range<Int>) -> Data {
        Data(UnsafeRawBufferPointer(rebasing: scanner.document[range]))
    }

    func setNil(_ column: ResourceColumn, _ writer: ResourceRowWriter) {
        if !writer.setNull(column) { _ = writer.set(.many([]), column) }
    }

    private func take(_ entity: String, _ plan: ItemPlan) throws -> ItemSink {
        if let place = idle.lastIndex(where: { $0.plan === plan && $0.entity == entity }) {
            let last = idle.removeLast()
            if place == idle.count { return last }
            let found = idle[place]
            idle[place] = last
            return found
        }
        return ItemSink(
            entity, plan, try answer.writer(entity), plan.properties.map { property in try? request.column(property.name, of: entity) },
            plan.properties.map { EmbeddedItem($0, shapes) })
    }

    private func give(_ sink: ItemSink) { idle.append(sink) }

    private static func shortened(_ data: Data) -> String {
        let text = String(decoding: data.prefix(120), as: UTF8.self)
        return data.count > 120 ? text + "…" : text
    }

    /// Returns the entity of the next resource.
    private func kind(_ scanner: inout JSONScanner, _ plan: ItemPlan) throws -> String {
        guard let kinds = plan.plan.kinds, try scanner.peek() == .object else { return plan.plan.entity }
        let place = scanner.place
        defer { scanner.seek(to: place) }
        let value = try scanner.readValue().value(at: kinds.path)
        return value.flatMap { kinds.entities[$0.string ?? $0.description] } ?? plan.plan.entity
    }

    private func identifier(_ item: Item, _ plan: ItemPlan) -> ResourceID? {
        guard plan.partCount > 1 || !plan.givenParts.isEmpty else { return item.id }
        var parts = plan.partCount > 1 ? item.parts : [item.id]
        for (part, parameter) in plan.givenParts { parts[part] = given(parameter) ?? ownPart(part, plan) }
        let known = parts.compactMap { $0 }
        return known.count == parts.count ? (known.count == 1 ? known[0] : .composite(known)) : nil
    }

    /// Returns a part of the identifier by which the resource itself was requested.
    private func ownPart(_ part: Int, _ plan: ItemPlan) -> ResourceID? {
        let ids = request.ids("SELF")
        guard ids.count == 1, plan.plan.entity == request.entity, case .composite(let parts) = ids[0], parts.count == plan.partCount else {
            return nil
        }
        return parts[part]
    }

    private func given(_ place: String) -> ResourceID? {
        let parameter = CallPlan.keyPath(place)
        if let id = request.ids(parameter).first {
            guard parameter != place, let part = place.split(separator: ".").last.flatMap({ Int($0) }) else { return id }
            guard case .composite(let parts) = id, parts.indices.contains(part) else { return nil }
            return parts[part]
        }
        switch request[parameter] {
        case .int64(let number)?: return .integer(number)
        case .string(let text)?: return .string(text)
        case .uuid(let uuid)?: return .uuid(uuid)
        default: return nil
        }
    }

    // MARK: Values

    private func readValues(
        _ scanner: inout JSONScanner, _ plan: ItemPlan, _ shape: ItemShape, _ sink: ItemSink, _ item: inout Item
    ) throws {
        guard try scanner.peek() == .object else {
            if item.failure == nil, shape === plan.shape {
                item.failure = WebBackendError.answer(request.description, "A resource is no object.")
            }
            try scanner.skipValue()
            return
        }
        try scanner.beginObject()
        while let index = try scanner.nextIndex(in: shape.table) {
            guard index >= 0 else {
                try scanner.skipValue()
                continue
            }
            let property = Int(shape.plainProperties[index])
            if property >= 0, let column = sink.columns[property] {
                let kind = plan.plainKinds[property]
                let isRead =
                    kind == .one
                    ? try readOne(&scanner, sink.embedded[property], column, sink.writer)
                    : try readPlain(&scanner, kind, column, sink.writer)
                if isRead {
                    item.hasValues = true
                    item.note(property)
                    continue
                }
            }
            let node = shape.nodes[index]
            if node.leaves.count == 1, node.children == nil {
                try read(&scanner, node.leaves[0], plan, sink, &item)
                continue
            }
            let place = scanner.place
            for leaf in node.leaves {
                scanner.seek(to: place)
                try read(&scanner, leaf, plan, sink, &item)
            }
            if let children = node.children {
                scanner.seek(to: place)
                // Values within null are nil, too.
                if try scanner.readIfNull() {
                    setNil(below: children, sink, &item)
                    continue
                }
                try readValues(&scanner, plan, children, sink, &item)
            }
        }
    }

    /// Reads a resource that is embedded in place of a reference. Returns false for another value, which stays unread.
    private func readOne(
        _ scanner: inout JSONScanner, _ embedded: EmbeddedItem?, _ column: ResourceColumn, _ writer: ResourceRowWriter
    ) throws -> Bool {
        guard let embedded, try scanner.peek() == .object else { return false }
        let place = scanner.place
        if let (id, row) = try readEmbedded(&scanner, embedded.plan, embedded.plan.plan.entity, embedded.isWhole),
            !checksForms || !IdentifierForms(of: id).contradicts(embedded.plan.forms.rows)
        {
            return writer.setOne(row, column)
        }
        scanner.seek(to: place)
        return false
    }

    /// Reads a value whose kind determines the form. Returns false for a value of another kind, which stays unread.
    private func readPlain(
        _ scanner: inout JSONScanner, _ kind: ItemPlan.PlainKind, _ column: ResourceColumn, _ writer: ResourceRowWriter
    ) throws -> Bool {
        switch (kind, try scanner.peek()) {
        case (.mapped, _), (.one, _): return false
        case (_, .null):
            try scanner.readNull()
            return writer.setNull(column)
        case (.string, .string): return writer.set(utf8: try scanner.readString().bytes, column)
        case (.integer, .number):
            let place = scanner.place
            if let number = try scanner.readNumber().int64, writer.set(number, column) { return true }
            scanner.seek(to: place)
            return false
        case (.double, .number): return writer.set(try scanner.readDouble(), column)
        case (.boolean, .true), (.boolean, .false): return writer.set(try scanner.readBool(), column)
        case (.isoDate, .string):
            let place = scanner.place
            let text = try scanner.readString().bytes
            if let seconds = try? DateText.seconds(text, .iso8601), writer.set(date: seconds, column) { return true }
            scanner.seek(to: place)
            return false
        default: return false
        }
    }

    private func read(
        _ scanner: inout JSONScanner, _ leaf: ItemShape.Leaf, _ plan: ItemPlan, _ sink: ItemSink, _ item: inout Item
    ) throws {
        switch leaf {
        case .identifier(let part):
            let id = try self.identifier(&scanner, plan.partCount > 1 ? nil : plan.plan.identifier)
            if plan.partCount > 1 { item.parts[part] = id } else { item.id = id }
        case .versionNumber:
            if try scanner.peek() == .number, let number = try scanner.readNumber().int64 {
                item.version = .number(number)
            } else {
                try skipRest(&scanner)
            }
        case .versionTag:
            switch try scanner.peek() {
            case .string: item.version = .tag(try scanner.readString().string)
            case .number: item.version = .tag(try scanner.readNumber().text.string)
            default: try scanner.skipValue()
            }
        case .property(let index):
            guard let column = sink.columns[index] else {
                try scanner.skipValue()
                return
            }
            item.note(index)
            try read(&scanner, plan.properties[index], column, plan, sink.writer, &item)
        case .inner(let path, let leaf):
            let whole = try scanner.readValue()
            if let value = whole.value(at: path) {
                try reread(value, leaf, plan, sink, &item)
            } else if whole.hasNothing(at: path) {
                setNil(leaf, sink, &item)
            }
        }
    }

    /// Skips a value, unless it was a number, which has been read already.
    private func skipRest(_ scanner: inout JSONScanner) throws {
        if try scanner.peek() != .number { try scanner.skipValue() }
    }

    /// Reads a value that was extracted from another one.
    private func reread(_ value: JSONValue, _ leaf: ItemShape.Leaf, _ plan: ItemPlan, _ sink: ItemSink, _ item: inout Item) throws {
        let bytes = try value.serialized()
        try bytes.withUnsafeBytes { bytes in
            var scanner = try JSONScanner(bytes)
            try read(&scanner, leaf, plan, sink, &item)
        }
    }

    /// Reads an identifier; nil if the value is not one.
    func identifier(_ scanner: inout JSONScanner, _ kind: WebResource.IdentifierKind?) throws -> ResourceID? {
        switch try scanner.peek() {
        case .number:
            let number = try scanner.readNumber()
            if kind == .string { return .string(number.text.string) }
            return number.int64.map { .integer($0) } ?? ResourceID(large: number.text.string)
        case .string:
            let text = try scanner.readString().string
            return text.isEmpty ? nil : ResourceID(key: text, kind)
        default:
            try scanner.skipValue()
            return nil
        }
    }

    private func read(
        _ scanner: inout JSONScanner, _ property: PropertyPlan, _ column: ResourceColumn, _ plan: ItemPlan, _ writer: ResourceRowWriter,
        _ item: inout Item
    ) throws {
        item.hasValues = true
        let start = scanner.position
        let isSet: Bool
        // A reference in another form than its destination's identifier leads to no object.
        var mistake: (any Error)?
        func isMistaken(_ found: ResourceID, _ entity: String) -> Bool {
            guard checksForms, mistake == nil, let destination = shapes.destination(entity) else { return mistake != nil }
            mistake = destination.forms.mistake(found, entity, property.name, of: plan.plan.entity, request.description)
            return mistake != nil
        }
        switch property.kind {
        case .attribute(_, let transform):
            if try scanner.readIfNull() {
                isSet = writer.setNull(column)
            } else if case .byType = transform, property.dateWrapping == nil || column.kind != .date {
                isSet = try readPlain(&scanner, property, column, writer)
            } else if case .date = transform {
                isSet = try readDate(&scanner, property, column, writer)
            } else {
                isSet = try ValueReader.set(try scanner.readValue(), property, column, writer)
            }
        case .composite(let elements): isSet = try ValueReader.set(try scanner.readValue(), elements, column, writer)
        case .toOne(let reference):
            if try scanner.readIfNull() {
                isSet = writer.setNull(column)
            } else if case .identifier = reference.style, try scanner.peek() == .number, !reference.hasSubentities,
                shapes.destination(reference.entity)?.plan.referenceKind != .string
            {
                let number = try scanner.readNumber()
                if let number = number.int64 {
                    isSet = !isMistaken(.integer(number), reference.entity) && writer.setOne(number, column)
                } else {
                    isSet = ResourceID(large: number.text.string).map { writer.setOne(ResourceReference($0), column) } ?? false
                }
            } else {
                switch try self.reference(&scanner, reference) {
                case .reference(let found):
                    isSet = !isMistaken(found.id, found.entity ?? reference.entity) && writer.setOne(found, column)
                case .none: isSet = writer.setNull(column)
                case .absent: isSet = true
                case .unreadable: isSet = false
                }
            }
        case .toMany(let reference, _, let isWhole):
            guard let references = try self.references(&scanner, reference) else {
                isSet = true
                break
            }
            isSet =
                references.isComplete && !references.list.contains { isMistaken($0.id, $0.entity ?? reference.entity) }
                && (!isWhole || writer.set(.many(references.list), column))
        }
        if !isSet, !item.unread.contains(where: { $0.property == property.name }) {
            let json = scanner.document[start..<scanner.position]
            let text = String(decoding: json.prefix(80), as: UTF8.self)
            let what = "“\(property.name)” of “\(plan.plan.entity)” cannot hold \(text.trimmingPrefix { $0 == " " })."
            let why = column.kind == .date ? (try? JSONValue(parsing: Array(json)))?.string.flatMap(property.dates.mistake) : nil
            let reason = mistake ?? WebBackendError.answer(request.description, [what, why].compactMap { $0 }.joined(separator: " "))
            item.unread.append((property.name, reason))
        }
    }

    /// Reads a value by the type of the attribute.
    private func readPlain(
        _ scanner: inout JSONScanner, _ property: PropertyPlan, _ column: ResourceColumn, _ writer: ResourceRowWriter
    ) throws -> Bool {
        switch (column.kind, try scanner.peek()) {
        case (.string, .string): return writer.set(utf8: try scanner.readString().bytes, column)
        case (.int64, .number), (.int32, .number), (.int16, .number):
            let number = try scanner.readNumber()
            return number.int64.map { writer.set($0, column) } ?? false
        case (.double, .number), (.float, .number): return writer.set(try scanner.readDouble(), column)
        case (.boolean, .true), (.boolean, .false): return writer.set(try scanner.readBool(), column)
        case (.date, _): return try readDate(&scanner, property, column, writer)
        default: return try ValueReader.set(try scanner.readValue(), property, column, writer)
        }
    }

    private func readDate(
        _ scanner: inout JSONScanner, _ property: PropertyPlan, _ column: ResourceColumn, _ writer: ResourceRowWriter
    ) throws -> Bool {
        switch try scanner.peek() {
        case .string:
            let text = try scanner.readString().bytes
            return property.dates.seconds(text).map { writer.set(date: $0, column) } ?? false
        case .number:
            let number = try scanner.readDouble()
            return property.dates.seconds(number).map { writer.set(date: $0, column) } ?? false
        default:
            try scanner.skipValue()
            return false
        }
    }
}
