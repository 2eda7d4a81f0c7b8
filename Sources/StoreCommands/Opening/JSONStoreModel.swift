internal import Foundation
internal import JSONReading
internal import ObjectGraph
internal import Platform
internal import PropertyLists

/// Drafts a model from the records of a JSON store: an entity for each list, an attribute for each member, and a to-one relationship for each member
/// whose values are keys of another list, if its name or the keys are unambiguous. Lists and objects within records are left out.
struct JSONStoreModel {
    private let url: URL

    init(_ url: URL) { self.url = url }

    /// The records of an entity.
    private struct List {
        let name: String
        var records: [JSONObject]
        /// The keys of the records, which are strings or numbers.
        var keys: Set<JSONReading.JSONValue> { Set(records.compactMap { $0["id"] }) }
    }

    /// - Throws: An error that names `--model` if the file has no lists of records.
    func model() throws -> NSManagedObjectModel {
        let lists = try lists()
        guard !lists.isEmpty, lists.contains(where: { !$0.records.isEmpty }) else { throw failure("It has no lists of records.") }
        let entities = lists.map { list in
            let entity = NSEntityDescription()
            entity.name = list.name
            return entity
        }
        let keys = lists.map(\.keys)
        for (list, entity) in zip(lists, entities) {
            var names: [String] = []
            var values: [String: [JSONReading.JSONValue]] = [:]
            for member in list.records.joined() {
                if values[member.key] == nil { names.append(member.key) }
                values[member.key, default: []].append(member.value)
            }
            entity.properties = names.compactMap { property($0, values[$0] ?? [], keys, lists, entities) }
        }
        return NSManagedObjectModel(entities: entities)
    }

    private func property(
        _ name: String, _ values: [JSONReading.JSONValue], _ keys: [Set<JSONReading.JSONValue>], _ lists: [List],
        _ entities: [NSEntityDescription]
    ) -> NSPropertyDescription? {
        let values = values.filter { !$0.isNull }
        guard name.first?.isLetter == true, !values.contains(where: { $0.array != nil || $0.object != nil }) else { return nil }
        // The key of a record refers to no other one.
        for index in lists.indices where name != "id" && !values.isEmpty && values.allSatisfy(keys[index].contains) {
            let isNamed = name.lowercased() == lists[index].name.lowercased()
            let areUnique = values.allSatisfy { $0.string.flatMap(UUID.init(uuidString:)) != nil }
            if isNamed || areUnique { return NSRelationshipDescription(name: name, destination: entities[index]) }
        }
        return NSAttributeDescription(name: name, type: Self.type(values))
    }

    /// Returns the common type of all values, or text if there are none.
    private static func type(_ values: [JSONReading.JSONValue]) -> NSAttributeDescription.AttributeType {
        if values.isEmpty { return .string }
        if values.allSatisfy({ $0.bool != nil }) { return .boolean }
        if values.allSatisfy({ if case .integer = $0 { true } else { false } }) { return .integer64 }
        if values.allSatisfy({ $0.double != nil }) { return .double }
        return .string
    }

    // MARK: The records

    private func lists() throws -> [List] {
        var isFolder: ObjCBool = false
        _ = FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder)
        if isFolder.boolValue {
            let names = try FileManager.default.contentsOfDirectory(atPath: url.path).sorted()
            return try names.filter { $0.lowercased().hasSuffix(".json") && !$0.hasPrefix(".") }.compactMap { name in
                let file = url.appendingPathComponent(name)
                return list(file.deletingPathExtension().lastPathComponent, try value(file))
            }
        }
        let document = try value(url)
        if document.array != nil { return [list(url.deletingPathExtension().lastPathComponent, document)].compactMap { $0 } }
        return document.object?.members.compactMap { list($0.key, $0.value) } ?? []
    }

    private func list(_ name: String, _ value: JSONReading.JSONValue) -> List? {
        guard let elements = value.array, name.first?.isLetter == true else { return nil }
        let records = elements.compactMap(\.object)
        return records.count == elements.count ? List(name: name, records: records) : nil
    }

    private func value(_ file: URL) throws -> JSONReading.JSONValue {
        do { return try JSONReading.JSONValue(parsing: [UInt8](RegularFile.data(file))) } catch let error as JSONError {
            throw failure("\(file.lastPathComponent), line \(error.line): \(error.reason)")
        }
    }

    private func failure(_ reason: String) -> NSError {
        CommandError.make(
            "The JSON store at \(url.path) cannot be opened by itself.", reason: "\(reason) No model can be drafted from it.",
            next: "Name its model with --model (an .xcdatamodeld, .momd or .mom).")
    }
}
