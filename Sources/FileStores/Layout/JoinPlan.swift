internal import Foundation
internal import ObjectGraph

/// The join file of a many-to-many relationship.
// Immutable but for the places of its file, which are set before the plan is used.
final class JoinPlan: @unchecked Sendable {
    /// The relationship in the layout.
    let relationship: NSRelationshipDescription
    /// Its inverse, which may be the same relationship; nil for none.
    let inverse: NSRelationshipDescription?
    let shape: RecordShape
    let layout: JoinLayout
    /// The index of the file in the plan of the store, and of the shape in that of the file.
    @exclusivity(unchecked) fileprivate(set) var file = 0
    @exclusivity(unchecked) fileprivate(set) var shapeIndex = 0

    /// The sides of a pair of related objects.
    enum Side { case owner, member }

    private init(_ relationship: NSRelationshipDescription, _ layout: JoinLayout) {
        self.relationship = relationship
        self.layout = layout
        inverse = relationship.storedInverse
        // A placeholder for the pairs, which is in no model.
        let pair = NSEntityDescription(name: "\(relationship.entity?.name ?? "").\(relationship.name)")
        var key = layout.owner
        for column in layout.member where !key.contains(column) { key.append(column) }
        shape = RecordShape(
            pair, entityText: pair.name ?? "?", file: layout.file, fields: [], derived: [], owner: nil, keyColumns: key, hasChosenKey: true,
            otherColumns: [layout.owner, layout.member] + (layout.order.map { [[$0]] } ?? []))
    }

    func locate(_ file: Int, _ shape: Int) { (self.file, shapeIndex) = (file, shape) }

    /// Whether the relationship is its own inverse.
    var isSymmetric: Bool { inverse === relationship }

    /// Returns the side of the pairs that has a relationship; nil for an unrelated one.
    func side(of other: NSRelationshipDescription) -> Side? {
        if Self.isSame(other, relationship) { return .owner }
        if let inverse, Self.isSame(other, inverse) { return .member }
        return nil
    }

    private static func isSame(_ other: NSRelationshipDescription, _ known: NSRelationshipDescription) -> Bool {
        if other === known { return true }
        guard other.name == known.name, let entity = other.entity, let declaring = known.entity else { return false }
        return entity.isKindOf(entity: declaring)
    }

    /// Returns the join files of a model.
    ///
    /// - Throws: Code 134020 for a relationship that cannot have a join file.
    static func all(_ entities: [NSEntityDescription], _ layout: FileLayout) throws -> [JoinPlan] {
        var joins: [JoinPlan] = []
        for entity in entities {
            for name in entity.relationshipsByName.keys.sorted() {
                guard let relationship = entity.relationshipsByName[name], let join = Self.layout(of: relationship, in: entity, layout),
                    !joins.contains(where: { $0.side(of: relationship) != nil })
                else { continue }
                joins.append(try make(relationship, join, layout))
            }
        }
        return joins
    }

    private static func layout(
        of relationship: NSRelationshipDescription, in entity: NSEntityDescription, _ layout: FileLayout
    ) -> JoinLayout? {
        for entity in entity.withSuperentities {
            if let join = layout.entities[entity.name ?? ""]?.joins[relationship.name] { return join }
        }
        let info = relationship.userInfo
        guard let file = info?["joinFile"] as? String, let owner = StorePlan.listedNames(info?["joinOwner"]),
            let member = StorePlan.listedNames(info?["joinMember"])
        else { return nil }
        return JoinLayout(file: file, owner: owner, member: member, order: info?["joinOrder"] as? String)
    }

    private static func make(
        _ relationship: NSRelationshipDescription, _ join: JoinLayout, _ layout: FileLayout
    ) throws -> JoinPlan {
        let inverse = relationship.storedInverse
        guard relationship.isToMany, inverse?.isToMany ?? true, let owner = relationship.entity,
            let member = relationship.destinationEntity
        else { throw failure(relationship, "It is not a many-to-many relationship.", next: "Use a column.") }
        if inverse?.isOrdered == true, inverse !== relationship {
            throw failure(relationship, "Its inverse is ordered.", next: "Name the join file for the inverse.")
        }
        if relationship.isOrdered, join.order == nil || inverse === relationship {
            throw failure(relationship, "It is ordered.", next: "Name a column with the order, or give the relationship none.")
        }
        for (entity, columns, what) in [(owner, join.owner, "owner"), (member, join.member, "member")] {
            let key = StorePlan.key(of: entity, layout) ?? ["id"]
            if columns.count != key.count {
                throw failure(
                    relationship,
                    "The \(what) has the columns \(columns.joined(separator: ", ")), and the key of “\(entity)” has \(key.joined(separator: ", ")).",
                    next: "Name one for each of them, in their order.")
            }
        }
        if join.owner == join.member || join.order.map({ (join.owner + join.member).contains($0) }) ?? false {
            throw failure(relationship, "A column has two meanings.", next: "Name different ones.")
        }
        return JoinPlan(relationship, join)
    }

    static func failure(_ relationship: NSRelationshipDescription, _ reason: String, next: String) -> NSError {
        CoreDataError.make(
            NSPersistentStoreIncompatibleSchemaError, "“\(relationship)” of “\(relationship.entity?.name ?? "")” cannot have a join file.",
            reason: reason, next: next)
    }
}
