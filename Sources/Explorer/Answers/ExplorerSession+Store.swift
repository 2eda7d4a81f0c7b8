internal import Foundation
@_spi(Stores) internal import ObjectGraph
package import StoreCommands

extension ExplorerSession {
    /// Returns a description of the store with its model, without counting objects.
    package func overview() async throws -> JSONValue {
        try await ask { reading in
            let store = reading.store
            let (model, note): (String, String?) =
                switch store.modelOrigin {
                case .store: ("kept by the store", nil)
                case .file(let path): (path, nil)
                case .drafted(let note): ("drafted", note)
                }
            return .members([
                "name": .string(store.kind == .service ? store.url.host() ?? store.place : store.url.lastPathComponent),
                "path": .string(store.place), "kind": .string(store.kind.rawValue),
                "uuid": .string(store.store.identifier ?? ""), "model": .string(model), "note": note.map(JSONValue.string),
                "writable": .bool(reading.isWritable),
                "entities": .array(
                    store.model.entities.sorted { ($0.name ?? "") < ($1.name ?? "") }.map(Self.json)),
            ])
        }
    }

    private static func json(_ entity: NSEntityDescription) -> JSONValue {
        .members([
            "name": .string(entity.name ?? ""), "parent": entity.superentity?.name.map(JSONValue.string),
            "abstract": entity.isAbstract ? .bool(true) : nil, "label": (Labels.attribute(entity)?.name).map(JSONValue.string),
            "attributes": .array(
                Reading.attributes(entity).map { attribute in
                    .members([
                        "name": .string(attribute.name), "type": .string(ModelReport.type(of: attribute)),
                        "optional": .bool(attribute.isOptional),
                    ])
                }),
            "relationships": .array(
                Reading.relationships(entity).map { relationship in
                    .members([
                        "name": .string(relationship.name), "destination": .string(relationship.destinationEntity?.name ?? ""),
                        "many": .bool(relationship.isToMany), "ordered": relationship.isOrdered ? .bool(true) : nil,
                        "optional": .bool(relationship.isOptional),
                        "inverse": (relationship.inverseRelationship?.name).map(JSONValue.string),
                    ])
                }),
        ])
    }

    /// Returns the model as a picture (SVG) without styles, in which each group with `data-entity` is an entity.
    package func diagram() async throws -> String {
        let answer = try await ask { reading in .members(["svg": .string(ModelDrawing(reading.store.model).svg(isStandalone: false))]) }
        if case .string(let svg)? = answer["svg"] { return svg } else { return "" }
    }
}
