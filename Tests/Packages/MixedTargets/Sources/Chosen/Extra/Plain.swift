/// Nothing in this file is for Objective-C: the target's options name it.
public enum Plain {
    public static let name = "plain"
}
