internal import Foundation
internal import ObjectGraph

/// Derives the layout for files of an older version of the model from that of the newer version.
struct FormerLayout: Sendable {
    let mapping: InferredMapping
    /// The layout of the newer version.
    let layout: FileLayout

    /// The pairs of properties of an entity in both versions.
    static func pairs(_ entity: InferredMapping.Entity) -> [(source: NSPropertyDescription, destination: NSPropertyDescription)] {
        var pairs: [(source: NSPropertyDescription, destination: NSPropertyDescription)] = []
        for attribute in entity.attributes { if let source = attribute.source { pairs.append((source, attribute.destination)) } }
        for relationship in entity.relationships {
            if let source = relationship.source { pairs.append((source, relationship.destination)) }
        }
        return pairs
    }

    /// The layout with the files of renamed entities.
    var withFiles: FileLayout {
        var former = layout
        for entity in mapping.entities {
            guard let source = entity.source?.name, let destination = entity.destination?.name, source != destination,
                former.entities[source] == nil
            else { continue }
            former.entities[source] = layout.entities[destination]
        }
        return former
    }

    /// Returns the layout with the columns of renamed properties.
    ///
    /// - Parameter known: The names in the files, by file.
    func withColumns(_ known: [String: Set<String>], wholeFile: String?) -> FileLayout {
        let files = withFiles
        var former = files
        for entity in mapping.entities {
            guard let source = entity.source, let name = source.name, let destination = entity.destination else { continue }
            let columns = known[wholeFile ?? StorePlan.file(of: source, files)] ?? []
            for (before, after) in Self.pairs(entity) {
                let own = StorePlan.columns(of: before, in: source, files)
                let new = StorePlan.columns(of: after, in: destination, layout)
                if let format = StorePlan.format(of: after, in: destination, layout), former[name].formats[before.name] == nil {
                    former[name].formats[before.name] = format
                }
                if let join = layout[destination.name ?? ""].joins[after.name], former[name].joins[before.name] == nil {
                    former[name].joins[before.name] = join
                }
                if own == new || own.allSatisfy(columns.contains) || !new.allSatisfy(columns.contains) { continue }
                // The column has the name of the newer version already: others have renamed it, or the layout names it.
                if new.count == 1 {
                    former[name].columns[before.name] = new[0]
                    former[name].referenceColumns[before.name] = nil
                } else {
                    former[name].referenceColumns[before.name] = new
                }
            }
        }
        return former
    }
}

extension StorePlan {
    /// Returns the columns of a property by a layout; if these are invalid, the column of its name.
    static func columns(of property: NSPropertyDescription, in entity: NSEntityDescription, _ layout: FileLayout) -> [String] {
        if let relationship = property as? NSRelationshipDescription, !relationship.isToMany,
            let columns = try? referenceColumns(of: relationship, in: entity, layout)
        {
            return columns
        }
        return [column(of: property, in: entity, layout)]
    }

    /// Returns the format of an attribute in the layout or the model; nil if there is none.
    static func format(of property: NSPropertyDescription, in entity: NSEntityDescription, _ layout: FileLayout) -> String? {
        entity.withSuperentities.lazy.compactMap { layout.entities[$0.name ?? ""]?.formats[property.name] }.first
            ?? property.userInfo?["fileFormat"] as? String
    }
}
