internal import Foundation
internal import ModelFiles
internal import ObjectGraph
internal import PropertyLists

/// The entities of a model and the names of the properties that each declares, as recorded in a mapping model file for both of its models.
///
/// Xcode archives its own editor's objects there, which contain neither types nor version hashes.
struct ModelOutline: Equatable {
    var entities: [String: Set<String>] = [:]

    init(entities: [String: Set<String>]) { self.entities = entities }

    init(of model: NSManagedObjectModel) {
        for entity in model.entities { entities[entity.name ?? ""] = Set(entity.declaredProperties.map(\.name)) }
    }

    init(of profiles: [String: EntityProfile]) { entities = profiles.mapValues(\.declared) }

    /// Reads the archive of Xcode's editor; nil if it contains no entities.
    init?(archive data: Data) {
        guard let archive = try? KeyedArchive(data) else { return nil }
        var names: [Int: String] = [:]
        var properties: [(owner: Int, name: String)] = []
        for index in archive.objects.indices {
            guard let object = archive.object(index), object.className.hasPrefix("XDPM"), let name = object.text("_name") else { continue }
            if object.className == "XDPMEntity" {
                names[index] = name
            } else if ["XDPMAttribute", "XDPMRelationship", "XDPMFetchedProperty"].contains(object.className),
                let owner = object.reference("_owner")
            {
                properties.append((owner, name))
            }
        }
        if names.isEmpty { return nil }
        for name in names.values { entities[name] = [] }
        for (owner, name) in properties { if let entity = names[owner] { entities[entity]?.insert(name) } }
    }

    /// Reads the text of ``text``; nil for anything else.
    init?(text: String) {
        for line in text.split(separator: ";") {
            let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2 else { return nil }
            entities[String(parts[0])] = Set(parts[1].split(separator: ",").map(String.init))
        }
    }

    /// The names in one line, for files that do without the archives: `Song:name,year;Band:name`.
    var text: String {
        entities.sorted { $0.key < $1.key }.map { "\($0.key):\($0.value.sorted().joined(separator: ","))" }.joined(separator: ";")
    }
}
