public import CoreData

/// A model with an attribute of every type and a relationship of every kind, for stores that support any model.
public enum ConformanceModel {
    /// The roles in this model: groups with members.
    public static let roles = ConformanceRoles(
        group: "Group", groupName: "name", members: "members", member: "Member", memberName: "name", memberNumber: "number",
        memberGroup: "group")

    /// Creates the model, a new one for each coordinator.
    public static func make() -> NSManagedObjectModel {
        let group = NSEntityDescription(name: "Group")
        let member = NSEntityDescription(name: "Member")
        let leader = NSEntityDescription(name: "Leader")
        let tag = NSEntityDescription(name: "Tag")
        let node = NSEntityDescription(name: "Node")
        let badge = NSEntityDescription(name: "Badge")
        let form = NSEntityDescription(name: "Form")

        let members = NSRelationshipDescription(name: "members", destination: member, toMany: true, deleteRule: .cascadeDeleteRule)
        let memberGroup = NSRelationshipDescription(name: "group", destination: group)
        members.inverse(to: memberGroup)
        let ranked = NSRelationshipDescription(name: "ranked", destination: member, toMany: true, isOrdered: true)
        let rankedIn = NSRelationshipDescription(name: "rankedIn", destination: group, toMany: true)
        ranked.inverse(to: rankedIn)
        let head = NSRelationshipDescription(name: "head", destination: member)
        let headOf = NSRelationshipDescription(name: "headOf", destination: group)
        head.inverse(to: headOf)
        let tags = NSRelationshipDescription(name: "tags", destination: tag, toMany: true)
        let tagged = NSRelationshipDescription(name: "tagged", destination: member, toMany: true)
        tags.inverse(to: tagged)
        let friends = NSRelationshipDescription(name: "friends", destination: member, toMany: true)
        friends.inverse(to: friends)
        let favourite = NSRelationshipDescription(name: "favourite", destination: tag)
        let guarded = NSRelationshipDescription(name: "guarded", destination: node, toMany: true, deleteRule: .denyDeleteRule)
        let guardedBy = NSRelationshipDescription(name: "guardedBy", destination: tag)
        guarded.inverse(to: guardedBy)
        let next = NSRelationshipDescription(name: "next", destination: node, deleteRule: .cascadeDeleteRule)
        let previous = NSRelationshipDescription(name: "previous", destination: node)
        next.inverse(to: previous)
        let pinned = NSRelationshipDescription(name: "pinned", destination: node, toMany: true, deleteRule: .noActionDeleteRule)
        let pinnedBy = NSRelationshipDescription(name: "pinnedBy", destination: tag)
        pinned.inverse(to: pinnedBy)

        func attribute(_ name: String, _ type: NSAttributeDescription.AttributeType, _ value: Any? = nil) -> NSAttributeDescription {
            NSAttributeDescription(name: name, type: type, defaultValue: value)
        }
        group.properties = [attribute("name", .string), members, ranked, head]
        member.properties = [
            attribute("name", .string), attribute("number", .integer64, 0), attribute("note", .string, "default"),
            attribute("real", .double), attribute("exact", .decimal), attribute("date", .date), attribute("data", .binaryData),
            attribute("flag", .boolean), attribute("uuid", .uuid), attribute("url", .uri), attribute("small", .integer16),
            attribute("single", .float), attribute("medium", .integer32), attribute("words", .transformable), memberGroup, rankedIn, headOf,
            tags, friends, favourite,
        ]
        leader.properties = [attribute("title", .string)]
        member.subentities = [leader]
        tag.properties = [attribute("label", .string), tagged, guarded, pinned]
        node.properties = [attribute("name", .string), next, previous, guardedBy, pinnedBy]
        badge.properties = [attribute("code", .string), attribute("colour", .string), attribute("points", .integer32, 0)]
        badge.uniquenessConstraints = [["code"]]
        ConformanceForm.describe(form, tag: tag)
        return NSManagedObjectModel(entities: [group, member, leader, tag, node, badge, form])
    }
}
