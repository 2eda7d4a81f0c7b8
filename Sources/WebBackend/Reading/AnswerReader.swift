internal import Foundation
internal import JSONReading
internal import ObjectGraph
internal import RemoteStore
internal import WebTransport

/// Reads the answer to a call.
struct AnswerReader {
    let service: ServicePlan
    let shapes: ItemShapes
    let plan: ResourcePlan
    let call: CallPlan
    let envelope: EnvelopeShape
    let limits: JSONLimits
    /// Whether it is an error if identifiers and references come in several forms.
    var checksForms = true

    /// The values around the resources.
    struct Findings {
        var count = 0
        var foundItems = false
        var next: JSONValue?
        var total: JSONValue?
        var exact: JSONValue?
        var more: JSONValue?
    }

    /// Reads an answer.
    ///
    /// - Parameter teller: Receives the token of the next page before the resources are read.
    /// - Throws: Code 134070 for an unreadable answer, with the place in it.
    func read(
        _ response: WebResponse, to request: BackendRequest, at url: String, tellingNext teller: PageTeller? = nil
    ) throws -> BackendAnswer {
        guard let item = shapes[plan.entity] else { return request.answer() }
        let isOfOne = call.call.returns == .one && call.places.contains { CallPlan.keyPath($0) == "SELF" }
        let reader = ItemReader(shapes, request, isOfOne: isOfOne, checksForms: checksForms)
        let tag = plan.version == .eTag && call.call.returns == .one ? response.headers["ETag"].map(Self.opaque) : nil
        var findings = Findings()
        let given = Given(
            implied: impliedValues(request, item), omitted: omitted(request, item),
            isForOne: request.filters.reduce(0) { $0 + $1.ids.count + $1.values.count } == 1)
        let hasBody = !(response.body.isEmpty && response.status == 204) && !(request.wantsCount && call.paging.countsByHead)
        if hasBody {
            do {
                try response.body.withUnsafeBytes { bytes in
                    var scanner = try JSONScanner(bytes, limits: limits)
                    if let teller {
                        let start = scanner.place
                        if let next = try earlyNext(&scanner, request, response, url) { teller.tell(next) }
                        scanner.seek(to: start)
                    }
                    try walk(&scanner, envelope, reader, item, tag, given, &findings)
                    try scanner.end()
                }
            } catch let error as JSONError {
                throw WebBackendError.answer(
                    request.description, "\(error)", next: "Compare the description with what the service answers: \(url)")
            }
            guard findings.foundItems || request.wantsCount else {
                let path = call.call.items ?? (call.call.returns == .one ? plan.style.envelope.item : plan.style.envelope.items)
                throw WebBackendError.answer(request.description, "It has nothing at “\(path)”, where resources should be.")
            }
        }
        try reader.checkAsked(plan)
        var answer = reader.answer
        try checkFilters(answer, request)
        answer.total = try total(request, response, findings)
        if request.wantsCount, answer.total == nil {
            throw uncounted(request, response, findings)
        }
        answer.isComplete = call.call.returns != .list
        if let guess = request.guessedPage(call), guess.isOver(at: answer) { return request.answer() }
        call.pageCounts.note(findings.count)
        answer.next = try next(request, response, findings, answer.total, url, signature: answer.listSignature)
        return answer
    }

    /// Returns a version from a header, without quotation marks. A weak one stays whole, because it is sent back as it was issued.
    static func opaque(_ tag: String) -> String {
        tag.count >= 2 && tag.hasPrefix("\"") && tag.hasSuffix("\"") ? String(tag.dropFirst().dropLast()) : tag
    }

    /// The values of resources that are not in the answer.
    private struct Given {
        /// The values that were parameters of the call.
        let implied: [(index: Int, value: ResourceValue)]
        /// The properties that are nil, or an empty list, if a resource lacks them.
        let omitted: [Int]
        /// Whether the request is for a single value.
        let isForOne: Bool
    }

    /// Returns whether the next object is a resource, and not a map of resources: for a single value, some services return the resource.
    private func isResource(_ scanner: inout JSONScanner) throws -> Bool {
        guard try scanner.peek() == .object else { return false }
        let place = scanner.place
        defer { scanner.seek(to: place) }
        let value = try scanner.readValue()
        return plan.identity.contains { !$0.hasPrefix("@") && value.value(at: JSONPath($0)) != nil }
    }

    private func omitted(_ request: BackendRequest, _ item: ItemPlan) -> [Int] {
        guard plan.style.omitsNil else { return [] }
        let wanted = plan.style.fields == nil ? nil : request.properties
        return item.properties.indices.filter { index in
            let property = item.properties[index]
            if case .toMany(_, _, false) = property.kind { return false }
            return (wanted?.contains(property.name) ?? true) && (call.call.properties?.contains(property.name) ?? true)
        }
    }

    /// Returns the values that all resources of a call have, because they were its parameters: those of the list of a parent.
    private func impliedValues(_ request: BackendRequest, _ item: ItemPlan) -> [(index: Int, value: ResourceValue)] {
        let given = Set(call.places.map(CallPlan.keyPath))
        return item.properties.enumerated().compactMap { index, property in
            guard given.contains(property.name), let filter = request.filter(property.name), filter.keyPath == property.name else {
                return nil
            }
            switch property.kind {
            case .toOne: return filter.ids.first.map { (index, .one(ResourceReference($0))) }
            case .attribute: return filter.values.first.map { (index, .value($0)) }
            case .toMany, .composite: return nil
            }
        }
    }

    // MARK: Parts

    private func walk(
        _ scanner: inout JSONScanner, _ shape: EnvelopeShape, _ reader: ItemReader, _ item: ItemPlan, _ tag: String?,
        _ given: Given, _ findings: inout Findings
    ) throws {
        if let own = shape.own {
            let place = scanner.place
            try read(own, &scanner, reader, item, tag, given, &findings)
            guard !shape.nodes.isEmpty else { return }
            // Included resources are beside the values of the resource.
            let end = scanner.place
            scanner.seek(to: place)
            guard try scanner.peek() == .object else { return scanner.seek(to: end) }
        }
        try shape.forEachNode(&scanner) { node, scanner in
            let place = scanner.place
            for part in node.parts {
                scanner.seek(to: place)
                try read(part, &scanner, reader, item, tag, given, &findings)
            }
            if let children = node.children {
                scanner.seek(to: place)
                try walk(&scanner, children, reader, item, tag, given, &findings)
            }
        }
    }

    private func read(
        _ part: EnvelopeShape.Part, _ scanner: inout JSONScanner, _ reader: ItemReader, _ item: ItemPlan, _ tag: String?,
        _ given: Given, _ findings: inout Findings
    ) throws {
        switch part {
        case .next: findings.next = try scanner.readValue()
        case .total: findings.total = try scanner.readValue()
        case .exact: findings.exact = try scanner.readValue()
        case .more: findings.more = try scanner.readValue()
        case .item:
            findings.foundItems = true
            // Some services answer null in place of the status 404, or a list in place of one resource.
            switch try scanner.peek() {
            case .null: try scanner.readNull()
            case .array: try readList(&scanner, reader, item, given, &findings)
            default: try reader.read(&scanner, item, tag: tag, implied: given.implied, omitted: given.omitted)
            }
        case .items where call.call.returns == .map:
            findings.foundItems = true
            if given.isForOne, try isResource(&scanner) {
                try reader.read(&scanner, item, implied: given.implied, omitted: given.omitted)
                return
            }
            try scanner.beginObject()
            while let key = try scanner.nextKey()?.string {
                findings.count += 1
                try reader.read(&scanner, item, key: key, implied: given.implied, omitted: given.omitted)
            }
        case .items:
            // Some services write null for an empty list.
            if try scanner.peek() == .null {
                findings.foundItems = true
                return try scanner.readNull()
            }
            guard try scanner.peek() == .array else {
                try scanner.skipValue()
                return
            }
            findings.foundItems = true
            try readList(&scanner, reader, item, given, &findings)
        case .included:
            guard try scanner.peek() == .array else {
                try scanner.skipValue()
                return
            }
            try scanner.beginArray()
            while try scanner.nextElement() { try readIncluded(&scanner, reader) }
        }
    }

    private func readList(
        _ scanner: inout JSONScanner, _ reader: ItemReader, _ item: ItemPlan, _ given: Given,
        _ findings: inout Findings
    ) throws {
        let element = plan.style.envelope.element
        try scanner.beginArray()
        while try scanner.nextElement() {
            findings.count += 1
            if element.isEmpty {
                try reader.read(&scanner, item, implied: given.implied, omitted: given.omitted)
                continue
            }
            let start = scanner.position
            guard let inner = try scanner.readValue().value(at: element) else {
                // In a request by identifiers, this is a missing resource: CouchDB's row with an error.
                if call.places.contains(where: { CallPlan.keyPath($0) == "SELF" }) || call.asksIdentifiers(reader.request) { continue }
                try reader.addMissing(scanner, from: start, item, at: "\(element)")
                continue
            }
            if inner.isNull { continue }
            let bytes = try inner.serialized()
            try bytes.withUnsafeBytes { bytes in
                var scanner = try JSONScanner(bytes)
                try reader.read(&scanner, item, implied: given.implied, omitted: given.omitted)
            }
        }
    }

    private func readIncluded(_ scanner: inout JSONScanner, _ reader: ItemReader) throws {
        let path = plan.style.envelope.type ?? "type"
        let place = scanner.place
        let type = try scanner.readValue().value(at: path)?.string
        guard let type, let destination = shapes.ofType(type) else { return }
        scanner.seek(to: place)
        let start = scanner.position
        if try reader.readEmbedded(&scanner, destination) == nil {
            try reader.addMissing(scanner, from: start, destination, at: destination.plan.identity.joined(separator: ", "))
        }
    }
}
