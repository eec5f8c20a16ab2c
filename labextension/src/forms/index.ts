export {
  CheckField,
  FormButton,
  type IOption,
  SecretField,
  Segment,
  Segments,
  SelectField,
  TextField
} from './fields';
