package import Foundation
internal import ModelFiles
internal import ObjectGraph

/// The versions of a model that were shipped, in the file `VersionHashes.lock` of the model's bundle.
///
/// Users have stores of these versions. If a shipped version is edited, their stores are of an unknown version, because nothing distinguishes the
/// edited version from the one that wrote them. The build fails instead.
package struct ShippedVersions {
    /// The name of the file.
    package static let fileName = "VersionHashes.lock"

    private struct Entity {
        var hash: String
        /// The facts that affect stores, such as `Album.title isOptional` and `true`.
        var values: [String: String]
    }
    private struct Version {
        let name: String
        let line: Int
        var entities: [String: Entity] = [:]
    }

    private var versions: [Version] = []

    /// Returns the file of a model.
    package static func file(of model: URL) -> URL { model.appendingPathComponent(fileName) }

    // MARK: Reading and writing

    /// Reads the file of a model; there are no versions if there is no file.
    ///
    /// - Throws: A ``ModelDiagnostic`` with the line that cannot be read.
    package init(of model: URL) throws {
        let file = Self.file(of: model)
        guard FileManager.default.fileExists(atPath: file.path) else { return }
        let text = try String(contentsOf: file, encoding: .utf8)
        var entity: String?
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            let line = line.trimmingPrefix { $0 == " " }
            if line.isEmpty || line.hasPrefix("#") { continue }
            let words = line.split(separator: " ", maxSplits: 2)
            if words[0] == "version", words.count > 1 {
                versions.append(Version(name: String(line.dropFirst("version ".count)), line: index + 1))
                entity = nil
            } else if words[0] == "entity", words.count == 3, !versions.isEmpty {
                entity = String(words[1])
                versions[versions.count - 1].entities[String(words[1])] = Entity(hash: String(words[2]), values: [:])
            } else if let entity, let sign = line.range(of: " = "), !versions.isEmpty {
                let value = line[sign.upperBound...].replacing("\\n", with: "\n")
                versions[versions.count - 1].entities[entity]?.values[String(line[..<sign.lowerBound])] = String(value)
            } else {
                throw ModelDiagnostic(
                    isError: true, file: file.path, line: index + 1,
                    message:
                        "“\(line)” is not what the command ship-models writes. Take the file from the last release, or repair the line.")
            }
        }
    }

    private var text: String {
        var lines = [
            "# The versions of this model that were shipped, as “swift package ship-models” has noted them. The build fails when one of them is",
            "# edited: make a new version of the model instead. To edit one that nobody has a store of, remove its paragraph.",
        ]
        for version in versions {
            lines += ["", "version \(version.name)"]
            for (name, entity) in version.entities.sorted(by: { $0.key < $1.key }) {
                lines.append("  entity \(name) \(entity.hash)")
                lines += entity.values.sorted { $0.key < $1.key }.map { "    \($0.key) = \($0.value.replacing("\n", with: "\\n"))" }
            }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// Records the versions of a model that are not yet recorded as shipped.
    ///
    /// - Returns: The names of these versions.
    /// - Throws: The first ``ModelDiagnostic`` if a shipped version was edited, and the errors of reading and writing.
    @discardableResult package static func ship(_ model: URL) throws -> [String] {
        var shipped = try ShippedVersions(of: model)
        var models: [(name: String, model: NSManagedObjectModel)] = []
        do {
            for name in try NSManagedObjectModel.versionNames(at: model) {
                models.append((name, try NSManagedObjectModel(reading: model, version: name)))
            }
        } catch { throw ModelDiagnostic(error, reading: model) }
        if let edited = shipped.diagnostics(of: models, in: model).first { throw edited }
        let new = models.filter { version in !shipped.versions.contains { $0.name == version.name } }
        for version in new {
            var entry = Version(name: version.name, line: 0)
            for entity in version.model.entities {
                entry.entities[entity.name ?? ""] = Entity(
                    hash: entity.versionHash.base64EncodedString(), values: ModelFacts.valuesForStores(of: entity))
            }
            shipped.versions.append(entry)
        }
        if !new.isEmpty { try Data(shipped.text.utf8).write(to: file(of: model), options: .atomic) }
        return new.map(\.name)
    }

    // MARK: Checking

    /// Returns an error for each shipped version that was edited or removed, and for each entity in it that differs.
    func diagnostics(of models: [(name: String, model: NSManagedObjectModel)], in bundle: URL) -> [ModelDiagnostic] {
        versions.flatMap { version -> [ModelDiagnostic] in
            guard let model = models.first(where: { $0.name == version.name })?.model else {
                return [
                    ModelDiagnostic(
                        isError: true, file: Self.file(of: bundle).path, line: version.line,
                        message: "The version “\(version.name)” was shipped and is gone: nobody could migrate stores of it. Put it back.")
                ]
            }
            let locations = SourceLocations(version: version.name, of: bundle)
            return changes(of: version, to: model).map { entity, change in
                ModelDiagnostic(
                    isError: true, file: locations.file, line: locations.line(entity: entity, property: nil),
                    message: "The version “\(version.name)” was shipped, and its entity “\(entity)” was changed since: \(change) "
                        + "Undo it, and make a new version of the model.")
            }
        }
    }

    /// Returns the changes in each entity that differs.
    private func changes(of version: Version, to model: NSManagedObjectModel) -> [(entity: String, change: String)] {
        let entities = model.entitiesByName
        var changes: [(String, String)] = []
        for name in Set(version.entities.keys).union(entities.keys).sorted() {
            switch (version.entities[name], entities[name]) {
            case (nil, _): changes.append((name, "it is new."))
            case (_, nil): changes.append((name, "it is gone."))
            case (let old?, let new?):
                let change = Self.change(from: old.values, to: ModelFacts.valuesForStores(of: new))
                if !change.isEmpty { changes.append((name, change)) }
            }
        }
        if changes.isEmpty {
            // A written entry is complete; a difference in the hash alone means that the file was edited.
            for (name, entity) in version.entities.sorted(by: { $0.key < $1.key })
            where entities[name]?.versionHash.base64EncodedString() != entity.hash {
                changes.append((name, "its hash is not the one in \(Self.fileName)."))
            }
        }
        return changes
    }

    private static func change(from old: [String: String], to new: [String: String]) -> String {
        func place(_ key: String) -> String { String(key.prefix { $0 != " " }) }
        let (oldPlaces, newPlaces) = (Set(old.keys.map(place)), Set(new.keys.map(place)))
        var sentences = oldPlaces.subtracting(newPlaces).sorted().map { "\($0) is gone." }
        sentences += newPlaces.subtracting(oldPlaces).sorted().map { "\($0) is new." }
        for key in Set(old.keys).union(new.keys).sorted() where old[key] != new[key] {
            guard oldPlaces.contains(place(key)), newPlaces.contains(place(key)) else { continue }
            let name = key.split(separator: " ", maxSplits: 1).joined(separator: ": ")
            sentences.append("\(name) was \(old[key] ?? "not set") and is \(new[key] ?? "not set").")
        }
        return sentences.joined(separator: " ")
    }
}
