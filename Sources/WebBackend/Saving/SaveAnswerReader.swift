internal import Foundation
internal import JSONReading
internal import ObjectGraph
internal import RemoteStore
internal import WebTransport

/// Reads the answers to accepted changes, both single ones and those within the answer to a batch.
struct SaveAnswerReader {
    let plan: ResourcePlan
    let saving: SavingStyle
    let values: ResourceValues
    let shapes: ItemShapes
    /// Removes secrets from a service's text.
    let clean: @Sendable (String) -> String

    /// The promised content of an answer, or the content in its place.
    private enum Content {
        case told(id: ResourceID?, version: ResourceVersion?, values: [String: ResourceValue])
        case unfit(expected: String, found: String)
    }

    /// Returns the outcome of a change from an answer with a success status.
    ///
    /// - Parameters:
    ///   - request: The request, for errors.
    ///   - answer: The described content of such answers; nil for the resource at the same path as in the request, or as the whole body.
    func outcome(_ response: WebResponse, to request: String, _ change: BackendChange, _ answer: SavingStyle.Answer?) -> BackendOutcome {
        if change.kind == .delete { return .saved() }
        switch content(response, change, answer) {
        case .told(let id, let version, let told):
            // The answer to a change that is accepted for later may have the identifier of something else.
            if change.kind == .insert, change.id == nil, response.status != 202, let known = id,
                let other = shapes.destination(plan.entity)?.forms.noteSaved(known, plan.entity)
            {
                return .unknown(
                    UnreadAnswer(WebBackendError.unfit(request, other.expected, "\(known), \(known.formName)", next: other.next)))
            }
            let tag = response.headers["ETag"].flatMap { plan.version == .eTag ? ResourceVersion.tag(AnswerReader.opaque($0)) : nil }
            let changed = told.filter { change.values[$0.key] != $0.value }
            return .saved(id: change.id == nil ? id : nil, version: version ?? tag, values: changed)
        case .unfit(let expected, let found):
            return .unknown(
                UnreadAnswer(
                    WebBackendError.unfit(
                        request, expected, found,
                        next:
                            "Describe what such answers have, as answer: resource:data, answer: assigned, answer: location or answer: nothing."
                    )))
        }
    }

    private func content(_ response: WebResponse, _ change: BackendChange, _ answer: SavingStyle.Answer?) -> Content {
        let isIdentified = change.id != nil
        let body = try? JSONValue(parsing: response.body)
        let hasBody = response.body.contains { $0 > 0x20 }
        var found: String { AnswerShape.text(response, body, clean: clean) }
        switch answer {
        case .nothing?: return .told(id: nil, version: nil, values: [:])
        case .location(let template)?:
            if isIdentified { return .told(id: nil, version: nil, values: [:]) }
            guard let address = response.headers["Location"] else {
                return .unfit(expected: "the address of the resource in the header “Location”", found: "no such header")
            }
            guard let id = identifier(in: address, template) else {
                return .unfit(
                    expected: "the header “Location” as “\(template ?? "…/{SELF}")”", found: "“\(clean(String(address.prefix(200))))”")
            }
            return .told(id: id, version: nil, values: [:])
        case .resource?, .assigned?, nil: break
        }
        if isIdentified, !hasBody { return .told(id: nil, version: nil, values: [:]) }
        if answer == nil, let receipt = saving.receipt {
            let hasTag = plan.version == .eTag && response.headers["ETag"] != nil
            return content(receipt, body, change, hasTag: hasTag, found)
        }
        let (path, isWhole): (JSONPath, Bool) =
            switch answer {
            case .resource(let path)?: (path, true)
            case .assigned(let path)?: (path, false)
            case .location?, .nothing?, nil: (body?.value(at: saving.item)?.object == nil ? "" : saving.item, true)
            }
        let place = path.isEmpty ? "as the whole body" : "at “\(path)”"
        guard let item = body?.value(at: path), item.object != nil else { return .unfit(expected: "the resource \(place)", found: found) }
        let id = values.identifier(item, plan)
        let identity = plan.identity.map { (path + JSONPath($0)).description }.joined(separator: "”, “")
        if let known = change.id {
            if let id, !id.isSame(as: known) { return .unfit(expected: "the resource \(known)", found: "\(id) at “\(identity)”") }
            // Identifiers with a part outside of the resource cannot be compared.
            if id == nil, isWhole, !plan.identity.contains(where: { $0.hasPrefix("@") }) {
                if answer != nil { return .unfit(expected: "the identifier of the resource at “\(identity)”", found: found) }
                let told = values.values(item, of: change.entity, plan, isWhole: false)
                // An object of another kind must not be ignored.
                if told.isEmpty, item.object?.count ?? 0 > 0 { return .unfit(expected: "the resource \(place)", found: found) }
                return .told(id: nil, version: values.version(item, plan), values: told)
            }
        } else if id == nil {
            return .unfit(expected: "the identifier of the new resource at “\(identity)”", found: found)
        }
        return .told(id: id, version: values.version(item, plan), values: values.values(item, of: change.entity, plan, isWhole: isWhole))
    }

    /// - Parameter hasTag: Whether the answer tells the version in a header.
    private func content(
        _ receipt: SavingStyle.Receipt, _ body: JSONValue?, _ change: BackendChange, hasTag: Bool, _ found: String
    ) -> Content {
        guard let id = body?.value(at: receipt.id).flatMap({ ResourceID($0, plan.identifier) }) else {
            return .unfit(expected: "the identifier at “\(receipt.id)”", found: found)
        }
        if let known = change.id, !id.isSame(as: known) {
            return .unfit(expected: "the resource \(known)", found: "\(id) at “\(receipt.id)”")
        }
        guard plan.version != .none else { return .told(id: id, version: nil, values: [:]) }
        guard let version = body?.value(at: receipt.version), !version.isNull else {
            // Without a version, the next change would be a conflict. For a new resource, the identifier matters more.
            if change.id == nil || hasTag { return .told(id: id, version: nil, values: [:]) }
            return .unfit(expected: "the version at “\(receipt.version)”", found: found)
        }
        return .told(id: id, version: .tag(version.string ?? version.description), values: [:])
    }

    /// Returns the identifier in an address; nil if it has none.
    func identifier(in address: String, _ template: String?) -> ResourceID? {
        guard let template, plan.identity.count > 1 || template.contains("?") else {
            return ReferenceReader.identifier(in: address, template).map(single)
        }
        guard let parts = ReferenceReader.parts(of: address, Template(template)), parts.count == plan.identity.count else { return nil }
        if parts.count == 1 { return single(parts[0]) }
        let reader = ReferenceReader(shapes: shapes)
        return .composite(parts.enumerated().map { part, text in ResourceID(key: text, reader.kind(ofPart: part, plan)) })
    }

    /// Returns the identifier for a text. If neither the description nor an attribute tells its kind, digits are a number.
    private func single(_ text: String) -> ResourceID {
        let isText = shapes[plan.entity]?.forms.rows == .digits
        if plan.referenceKind == nil, plan.identifierAttribute == nil, !isText, let number = Int64(text), "\(number)" == text {
            return .integer(number)
        }
        return ResourceID(key: text, plan.referenceKind ?? ReferenceReader(shapes: shapes).kind(ofPart: 0, plan))
    }
}
